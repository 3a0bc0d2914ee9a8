#include "config.h"

#include "cli/plot.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "select/select.h"

extern char **environ;

#define WIDTH          860
#define HEIGHT_LEAST   420
#define HEIGHT_A_TITLE 22  /* of the key */
#define NARROW         2.5 /* decades along an axis of which 2 and 5 are labelled too */
#define LABELS_MOST    10  /* along an axis of bytes */

/* To be read on white and on near black. */
static const char *const colours[] = {"#3b7dd8", "#e0702a", "#2a9d5c", "#c8508c", "#8a63d2",
                                      "#b8860b", "#1f9aa8", "#d04545", "#7a8a99", "#6b8e23"};

enum { NCOLOURS = sizeof colours / sizeof colours[0] };

struct range {
    double least, most; /* least > most: empty */
};

/* --- what is drawn --- */

static bool
takes(enum ar_plot_scale scale, double value)
{
    return isfinite(value) && (scale == AR_PLOT_LINEAR || value > 0);
}

static bool
is_drawn(const struct ar_plot *plot, const struct ar_plot_series *s, size_t i)
{
    return takes(plot->x.scale, s->x[i]) && takes(plot->y.scale, s->y[i]);
}

static bool
has_points(const struct ar_plot *plot, const struct ar_plot_series *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (is_drawn(plot, s, i))
            return true;
    return false;
}

static void
find_ranges(struct range *x, struct range *y, const struct ar_plot *plot)
{
    *x = *y = (struct range){INFINITY, -INFINITY};
    for (size_t k = 0; k < plot->nseries; k++) {
        const struct ar_plot_series *s = &plot->series[k];
        for (size_t i = 0; i < s->n; i++) {
            if (!is_drawn(plot, s, i))
                continue;
            x->least = fmin(x->least, s->x[i]);
            x->most = fmax(x->most, s->x[i]);
            y->least = fmin(y->least, s->y[i]);
            y->most = fmax(y->most, s->y[i]);
        }
    }
}

/* --- the script --- */

/* In single quotes gnuplot knows one special character, the quote. */
static void
put_quoted(FILE *script, const char *text)
{
    fputc('\'', script);
    for (; *text; text++)
        if (*text == '\'')
            fputs("''", script);
        else
            fputc((unsigned char)*text < ' ' ? ' ' : *text, script);
    fputc('\'', script);
}

/* Powers of two, at equal steps, LABELS_MOST at most. */
static void
put_bytes_labels(FILE *script, char axis, struct range range)
{
    const int first = (int)fmax(0, floor(log2(range.least)));
    const int last = (int)fmin(62, ceil(log2(range.most)));
    const int step = (last - first) / LABELS_MOST + 1;
    fprintf(script, "set %ctics (", axis);
    for (int i = first; i <= last; i += step) {
        char text[AR_SIZE_TEXT];
        fprintf(script, "%s'%s' %.0f", i == first ? "" : ", ",
                ar_size_print((size_t)1 << i, text, sizeof text), ldexp(1, i));
    }
    fprintf(script, ")\n");
}

/* 1, 2, 5, 10, ..., or powers of ten alone where these are enough. */
static void
put_decimal_labels(FILE *script, char axis, struct range range)
{
    static const int few[] = {1}, many[] = {1, 2, 5};
    const int first = (int)floor(log10(range.least)), last = (int)ceil(log10(range.most));
    const bool narrow = log10(range.most / range.least) < NARROW;
    fprintf(script, "set %ctics (", axis);
    for (int i = first; i <= last; i++)
        for (int k = 0; k < (narrow ? 3 : 1); k++)
            fprintf(script, "%s%g", i == first && k == 0 ? "" : ", ",
                    (narrow ? many : few)[k] * pow(10, i));
    fprintf(script, ")\n");
}

/* The range with some room around it, so that it is never empty. */
static void
put_axis(FILE *script, char name, const struct ar_plot_axis *axis, struct range range)
{
    if (axis->scale == AR_PLOT_LINEAR) {
        const double least = fmin(0, range.least), most = fmax(0, range.most);
        const double room = most > least ? (most - least) / 20 : 1;
        fprintf(script, "set %crange [%.9g:%.9g]\n", name, least < 0 ? least - room : 0,
                most + room);
    } else {
        fprintf(script, "set logscale %c\nset %crange [%.9g:%.9g]\n", name, name,
                range.least / 1.25, range.most * 1.25);
    }
    if (axis->scale == AR_PLOT_BYTES)
        put_bytes_labels(script, name, range);
    else if (axis->scale == AR_PLOT_LOG)
        put_decimal_labels(script, name, range);
    fprintf(script, "set format %c '%%g'\n", name);
    fprintf(script, "set %clabel ", name);
    put_quoted(script, axis->label);
    fputc('\n', script);
}

static void
put_series(FILE *script, const struct ar_plot_series *s, size_t number)
{
    const char *colour = colours[number % NCOLOURS];
    const size_t turn = number / NCOLOURS;
    fprintf(script, "'-' using 1:2 title ");
    put_quoted(script, s->title);
    if (s->style == AR_PLOT_DASHED)
        fprintf(script, " with lines lw 1.5 dt '-' lc rgb '%s'", colour);
    else
        fprintf(script, " with linespoints lw 1.6 ps 0.6 pt %zu lc rgb '%s'",
                number % 7 + 7 * (turn % 2) + 1, colour);
}

static void
put_points(FILE *script, const struct ar_plot *plot, const struct ar_plot_series *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (is_drawn(plot, s, i))
            fprintf(script, "%.9g %.9g\n", s->x[i], s->y[i]);
    fprintf(script, "e\n");
}

static void
put_plot(FILE *script, const struct ar_plot *plot)
{
    const char *separator = "plot ";
    for (size_t k = 0; k < plot->nseries; k++)
        if (has_points(plot, &plot->series[k])) {
            fputs(separator, script);
            put_series(script, &plot->series[k], k);
            separator = ", ";
        }
    fputc('\n', script);
    for (size_t k = 0; k < plot->nseries; k++)
        if (has_points(plot, &plot->series[k]))
            put_points(script, plot, &plot->series[k]);
}

static void
put_script(FILE *script, const struct ar_plot *plot, struct range x, struct range y)
{
    const size_t key = 140 + HEIGHT_A_TITLE * plot->nseries;
    fprintf(script,
            "set terminal svg noenhanced size %d,%zu dynamic font 'sans-serif,13'\nset title ",
            WIDTH, key > HEIGHT_LEAST ? key : HEIGHT_LEAST);
    put_quoted(script, plot->title);
    fprintf(script, "\nset key outside right top maxcols 1 Left reverse noenhanced samplen 2\n"
                    "set grid\nset border 3\nset tics nomirror\n");
    put_axis(script, 'x', &plot->x, x);
    put_axis(script, 'y', &plot->y, y);
    put_plot(script, plot);
}

/* --- the child --- */

static void
say_missing(const char *command)
{
    fprintf(stderr,
            "%s: gnuplot, which draws the plots, is not in PATH: install it (Debian, Ubuntu: "
            "gnuplot-nox; Fedora, SUSE: gnuplot)\n",
            command);
}

/* Starts gnuplot with these as stdin and stdout; 0 or an errno. */
static int
start(pid_t *child, int script, int svg)
{
    char *argv[] = {"gnuplot", NULL};
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawn_file_actions_adddup2(&actions, script, STDIN_FILENO);
    if (!error)
        error = posix_spawn_file_actions_adddup2(&actions, svg, STDOUT_FILENO);
    if (!error)
        error = posix_spawnp(child, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Runs gnuplot on two files in memory: pipes could fill both ways. */
static int
run(int script, int svg)
{
    pid_t child;
    int status;
    const int error = start(&child, script, svg);
    if (error == ENOENT)
        say_missing("allreduce");
    else if (error)
        fprintf(stderr, "allreduce: cannot run gnuplot: %s\n", strerror(error));
    if (error)
        return AR_EXIT_FAILED;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return AR_EXIT_FAILED;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return AR_EXIT_DONE;
    fprintf(stderr, "allreduce: gnuplot failed; what it said stands above\n");
    return AR_EXIT_FAILED;
}

/* Cuts gnuplot's own title, which browsers show under the pointer. */
static void
cut_title(char *svg)
{
    const char *end_tag = "</title>";
    char *title = strstr(svg, "<title>"), *end = title ? strstr(title, end_tag) : NULL;
    if (!end)
        return;
    end += strlen(end_tag);
    memmove(title, end, strlen(end) + 1);
}

/* The <svg> element in file, without the XML declaration before it. */
static char *
read_svg(FILE *file)
{
    const long length = fseek(file, 0, SEEK_END) ? -1 : ftell(file);
    char *text = length > 0 ? malloc((size_t)length + 1) : NULL;
    if (!text)
        return NULL;
    rewind(file);
    text[fread(text, 1, (size_t)length, file)] = '\0';
    const char *element = strstr(text, "<svg");
    char *svg = element ? strdup(element) : NULL;
    free(text);
    if (svg)
        cut_title(svg);
    return svg;
}

/* A file in memory; NULL after saying why. */
static FILE *
open_memory(void)
{
    const int fd = memfd_create("allreduce-plot", MFD_CLOEXEC);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w+");
    if (!file) {
        fprintf(stderr, "allreduce: cannot plot: %s\n", strerror(errno));
        if (fd >= 0)
            close(fd);
    }
    return file;
}

static int
draw(char **svg, const struct ar_plot *plot, struct range x, struct range y)
{
    FILE *script = open_memory(), *drawn = script ? open_memory() : NULL;
    int status = AR_EXIT_FAILED;
    if (!drawn)
        goto out;
    put_script(script, plot, x, y);
    if (fflush(script) || lseek(fileno(script), 0, SEEK_SET) < 0) {
        fprintf(stderr, "allreduce: cannot plot: %s\n", strerror(errno));
        goto out;
    }
    status = run(fileno(script), fileno(drawn));
    char *text = status ? NULL : read_svg(drawn);
    if (!status && !text) {
        fprintf(stderr, "allreduce: gnuplot drew nothing\n");
        status = AR_EXIT_FAILED;
    }
    if (!status)
        *svg = text;
out:
    if (script)
        fclose(script);
    if (drawn)
        fclose(drawn);
    return status;
}

bool
ar_plot_available(const char *command)
{
    const char *path = getenv("PATH");
    char *copy = strdup(path ? path : ""), *rest = copy;
    bool found = false;
    for (char *folder = strtok_r(copy, ":", &rest); folder && !found;
         folder = strtok_r(NULL, ":", &rest)) {
        char file[4096];
        found = snprintf(file, sizeof file, "%s/gnuplot", folder) < (int)sizeof file &&
                access(file, X_OK) == 0;
    }
    free(copy);
    if (!found)
        say_missing(command);
    return found;
}

int
ar_plot_draw(char **svg, const struct ar_plot *plot)
{
    struct range x, y;
    find_ranges(&x, &y, plot);
    if (x.least <= x.most)
        return draw(svg, plot, x, y);
    char *nothing = strdup("");
    if (!nothing)
        return AR_EXIT_FAILED;
    *svg = nothing;
    return AR_EXIT_DONE;
}
