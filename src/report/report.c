#include "report/report.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct line {
    char *ran;
    char *reason;
    struct ar_tally tally;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct line *lines;
static size_t nlines;

static struct line *
find(const char *ran, const char *reason)
{
    for (size_t i = 0; i < nlines; i++)
        if (strcmp(lines[i].ran, ran) == 0 && strcmp(lines[i].reason, reason) == 0)
            return &lines[i];
    return NULL;
}

/* NULL where memory ran out: statistics are advisory. */
static struct line *
append(const char *ran, const char *reason)
{
    struct line *more = realloc(lines, (nlines + 1) * sizeof *lines);
    if (!more)
        return NULL;
    lines = more;
    struct line line = {.ran = strdup(ran), .reason = strdup(reason)};
    if (!line.ran || !line.reason) {
        free(line.ran);
        free(line.reason);
        return NULL;
    }
    lines[nlines] = line;
    return &lines[nlines++];
}

void
ar_report_add(const char *ran, const char *reason, struct ar_tally tally)
{
    if (tally.calls == 0)
        return;
    pthread_mutex_lock(&lock);
    struct line *line = find(ran, reason);
    if (!line)
        line = append(ran, reason);
    if (line) {
        line->tally.calls += tally.calls;
        line->tally.bytes += tally.bytes;
        line->tally.ns += tally.ns;
    }
    pthread_mutex_unlock(&lock);
}

static int
heavier_first(const void *a, const void *b)
{
    const struct ar_tally *x = &((const struct line *)a)->tally;
    const struct ar_tally *y = &((const struct line *)b)->tally;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    return (x->calls < y->calls) - (x->calls > y->calls);
}

static void
print_line(FILE *to, const struct line *line)
{
    fprintf(to, "liballreduce: %10llu %14llu %12.3f  %-32s %s\n",
            (unsigned long long)line->tally.calls, (unsigned long long)line->tally.bytes,
            (double)line->tally.ns * 1e-6, line->ran, line->reason);
}

void
ar_report_print(FILE *to, const char *title)
{
    pthread_mutex_lock(&lock);
    if (nlines > 0) {
        qsort(lines, nlines, sizeof *lines, heavier_first);
        fprintf(to, "liballreduce: %s\n", title);
        fprintf(to, "liballreduce: %10s %14s %12s  %-32s %s\n", "calls", "bytes", "ms", "ran",
                "why");
        for (size_t i = 0; i < nlines; i++)
            print_line(to, &lines[i]);
        fflush(to);
    }
    pthread_mutex_unlock(&lock);
}

void
ar_say(const char *format, ...)
{
    char text[1024] = "liballreduce: ";
    const size_t prefix = strlen(text), room = sizeof text - prefix - 1;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text + prefix, room, format, args);
    va_end(args);
    size_t length = prefix + (n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1);
    text[length++] = '\n';
    if (write(STDERR_FILENO, text, length) < 0)
        return; /* nobody left to tell */
}
