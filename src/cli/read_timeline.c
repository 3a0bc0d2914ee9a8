/* One call of a timeline: who came when, what the last return waited for, and what the model says.
 */
#include <config.h>

#include "cli/read_timeline.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/report.h"
#include "select/number.h"
#include "select/words.h"

/* --- sorting --- */

static int
compare_keys(const struct ar_read_trace_key *a, const struct ar_read_trace_key *b)
{
    for (int i = 0; i < 2; i++)
        if (a->id[i] != b->id[i])
            return a->id[i] < b->id[i] ? -1 : 1;
    return a->call == b->call ? 0 : a->call < b->call ? -1 : 1;
}

/* The slices of calls first, by rank in the communicator; then all by time. */
static int
compare_slices(const void *left, const void *right)
{
    const struct ar_slice *const a = left, *const b = right;
    const bool is_call[] = {a->kind == AR_SLICE_CALL, b->kind == AR_SLICE_CALL};
    const int order = compare_keys(&a->key, &b->key);
    if (order || is_call[0] != is_call[1])
        return order ? order : is_call[0] ? -1 : 1;
    if (is_call[0] && a->detail != b->detail)
        return a->detail < b->detail ? -1 : 1;
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

static int
compare_arrows(const void *left, const void *right)
{
    const struct ar_read_trace_arrow *const a = left, *const b = right;
    const int order = compare_keys(&a->key, &b->key);
    return order ? order : a->end < b->end ? -1 : a->end > b->end;
}

static int
compare_heads(const void *left, const void *right)
{
    const struct ar_read_trace_call *const a = left, *const b = right;
    return compare_keys(&a->key, &b->key);
}

static int
compare_begins(const void *left, const void *right)
{
    const struct ar_read_trace_call *const a = left, *const b = right;
    return a->begin < b->begin ? -1 : a->begin > b->begin ? 1 : compare_keys(&a->key, &b->key);
}

/* Fills in what the call's slices and arrows tell, from where those begin. */
static void
add_up(const struct ar_read_trace *t, struct ar_read_trace_call *call)
{
    const struct ar_slice *slice = &t->slices[call->first_slice];
    call->begin = call->last = slice->begin;
    for (; call->first_slice + call->nslices < t->nslices; slice++, call->nslices++) {
        if (compare_keys(&slice->key, &call->key) != 0)
            break;
        if (slice->kind != AR_SLICE_CALL)
            continue;
        call->nparts++;
        call->begin = fmin(call->begin, slice->begin);
        call->last = fmax(call->last, slice->begin);
        call->end = fmax(call->end, slice->end);
    }
    while (call->first_arrow + call->narrows < t->narrows &&
           compare_keys(&t->arrows[call->first_arrow + call->narrows].key, &call->key) == 0)
        call->narrows++;
}

static int
compare_hosts(const void *a, const void *b)
{
    const struct ar_read_trace_host *const left = a, *const right = b;
    return (left->rank > right->rank) - (left->rank < right->rank);
}

const char *
ar_read_trace_host(const struct ar_read_trace *t, int rank)
{
    const struct ar_read_trace_host key = {.rank = rank};
    const struct ar_read_trace_host *const found =
        bsearch(&key, t->hosts, t->nhosts, sizeof key, compare_hosts);
    return found ? found->name : "";
}

bool
ar_read_trace_sort(struct ar_read_trace *t, const struct ar_read_trace_call *heads)
{
    size_t n = 0, slice = 0, arrow = 0;
    for (size_t i = 0; i < t->nslices; i++)
        n += t->slices[i].kind == AR_SLICE_CALL;
    t->calls = malloc((n + 1) * sizeof *t->calls);
    if (!t->calls)
        return false;
    n = 0;
    for (size_t i = 0; i < t->nslices; i++)
        if (t->slices[i].kind == AR_SLICE_CALL) {
            t->calls[n] = heads[n];
            t->calls[n++].key = t->slices[i].key;
        }
    qsort(t->calls, n, sizeof *t->calls, compare_heads);
    qsort(t->slices, t->nslices, sizeof *t->slices, compare_slices);
    qsort(t->arrows, t->narrows, sizeof *t->arrows, compare_arrows);
    qsort(t->hosts, t->nhosts, sizeof *t->hosts, compare_hosts);
    for (size_t i = 0; i < n; i++) {
        struct ar_read_trace_call *const call = &t->calls[t->ncalls];
        if (i > 0 && compare_keys(&t->calls[i].key, &t->calls[t->ncalls - 1].key) == 0)
            continue;
        *call = t->calls[i];
        while (compare_keys(&t->slices[slice].key, &call->key) < 0)
            slice++;
        while (arrow < t->narrows && compare_keys(&t->arrows[arrow].key, &call->key) < 0)
            arrow++;
        call->first_slice = slice;
        call->first_arrow = arrow;
        add_up(t, call);
        t->ncalls++;
    }
    qsort(t->calls, t->ncalls, sizeof *t->calls, compare_begins);
    return true;
}

void
ar_read_trace_fini(struct ar_read_trace *t)
{
    free(t->hosts);
    free(t->slices);
    free(t->arrows);
    free(t->calls);
    *t = (struct ar_read_trace){.path = t->path};
}

size_t
ar_read_trace_longest(const struct ar_read_trace *t, size_t *numbers, size_t room)
{
    size_t n = 0;
    for (size_t i = 0; i < t->ncalls; i++) {
        const double lasts = t->calls[i].end - t->calls[i].begin;
        size_t at = n < room ? n++ : room;
        for (; at > 0 && lasts > t->calls[numbers[at - 1]].end - t->calls[numbers[at - 1]].begin;
             at--)
            if (at < room)
                numbers[at] = numbers[at - 1];
        if (at < room)
            numbers[at] = i;
    }
    return n;
}

/* --- one call --- */

/* The row of a rank; nparts where it has none. */
static size_t
row_of(const struct ar_read_trace_view *v, int rank)
{
    size_t row = 0;
    while (row < (size_t)v->call->nparts && v->rows[row].rank != rank)
        row++;
    return row;
}

/* Adds a wait to its row, in which *longest is the longest single wait so far. */
static void
add_wait(struct ar_read_trace_row *row, const struct ar_slice *wait, double *longest)
{
    const double lasts = wait->end - wait->begin;
    row->waiting += lasts;
    if (lasts > *longest) {
        *longest = lasts;
        row->awaited = wait->detail;
    }
}

static bool
make_rows(struct ar_read_trace_view *v)
{
    const size_t n = (size_t)v->call->nparts;
    const struct ar_slice *const slices = &v->timeline->slices[v->call->first_slice];
    double *const longest = calloc(n + 1, sizeof *longest);
    v->rows = calloc(n + 1, sizeof *v->rows);
    if (!v->rows || !longest) {
        free(longest);
        return false;
    }
    for (size_t i = 0; i < n; i++)
        v->rows[i] = (struct ar_read_trace_row){
            .rank = slices[i].rank, .begin = slices[i].begin, .end = slices[i].end, .awaited = -1};
    for (size_t i = n; i < v->call->nslices; i++) {
        const size_t row = row_of(v, slices[i].rank);
        const double lasts = slices[i].end - slices[i].begin;
        if (row == n)
            continue;
        if (slices[i].kind == AR_SLICE_WAIT)
            add_wait(&v->rows[row], &slices[i], &longest[row]);
        v->rows[row].setup += slices[i].kind == AR_SLICE_SETUP ? lasts : 0;
        v->rows[row].work += slices[i].kind == AR_SLICE_WORK ? lasts : 0;
    }
    free(longest);
    for (size_t i = 0; i < n; i++) {
        v->first = v->rows[i].begin < v->rows[v->first].begin ? i : v->first;
        v->last = v->rows[i].begin > v->rows[v->last].begin ? i : v->last;
        v->returned = v->rows[i].end > v->rows[v->returned].end ? i : v->returned;
        v->setup = fmax(v->setup, v->rows[i].setup);
    }
    return true;
}

/* What ended the wait: of the arrows from the awaited rank, or from any if that is not known, the
 * one whose end is nearest to the wait's. */
static const struct ar_read_trace_arrow *
arrow_of(const struct ar_read_trace_view *v, const struct ar_slice *wait)
{
    const struct ar_read_trace_arrow *const arrows = &v->timeline->arrows[v->call->first_arrow];
    const struct ar_read_trace_arrow *found = NULL;
    for (size_t i = 0; i < v->call->narrows; i++) {
        const struct ar_read_trace_arrow *const a = &arrows[i];
        if (a->to == wait->rank && (wait->detail < 0 || a->from == wait->detail) &&
            a->begin < wait->end && a->end >= wait->begin &&
            (!found || fabs(a->end - wait->end) < fabs(found->end - wait->end)))
            found = a;
    }
    return found;
}

/* Where the path comes from: a row, and when it left it. */
struct origin {
    size_t row; /* nparts: from nowhere, since the rank's own arrival comes before */
    double then;
    double entered;                          /* the rank that waited */
    const struct ar_read_trace_arrow *arrow; /* NULL: no message is known */
};

/* What ended the last of the rank's waits until then that tells: a message or a flag, or else the
 * rank that was awaited, which had not taken a message yet.  What was sent before the rank arrived
 * did not hold it up: its own arrival did.  A rank waits once at a time, so its slices are in the
 * order of their ends, too. */
static struct origin
find_origin(const struct ar_read_trace_view *v, size_t row, double then)
{
    const struct ar_slice *const slices = &v->timeline->slices[v->call->first_slice];
    const struct ar_read_trace_row *const own = &v->rows[row];
    const struct origin none = {.row = (size_t)v->call->nparts, .entered = own->begin};
    for (size_t i = v->call->nslices; i-- > 0;) {
        const struct ar_slice *const wait = &slices[i];
        if (wait->kind != AR_SLICE_WAIT || wait->rank != own->rank || wait->end > then)
            continue;
        const struct ar_read_trace_arrow *const arrow = arrow_of(v, wait);
        const size_t from = row_of(v, arrow ? arrow->from : wait->detail);
        const double left = arrow ? arrow->begin : wait->end;
        if (arrow && left < own->begin)
            return none;
        if (from < (size_t)v->call->nparts && left < then && left > v->rows[from].begin)
            return (struct origin){from, left, arrow ? arrow->end : wait->end, arrow};
    }
    return none;
}

/* Goes from the last return back to an arrival.  Each leg begins earlier than the one behind it, at
 * a wait of its rank's own, so there are no more of them than waits. */
static bool
make_path(struct ar_read_trace_view *v)
{
    size_t row = v->returned;
    double then = v->rows[row].end;
    const struct ar_read_trace_arrow *arrow = NULL;
    v->legs = calloc(v->call->nslices + 1, sizeof *v->legs);
    if (!v->legs)
        return false;
    while (row < (size_t)v->call->nparts && v->nlegs <= v->call->nslices) {
        const struct origin from = find_origin(v, row, then);
        v->legs[v->nlegs++] = (struct ar_read_trace_leg){
            .row = row, .begin = from.entered, .end = then, .arrow = arrow};
        row = from.row;
        then = from.then;
        arrow = from.arrow;
    }
    for (size_t i = 0; i < v->nlegs / 2; i++) {
        const struct ar_read_trace_leg leg = v->legs[i];
        v->legs[i] = v->legs[v->nlegs - 1 - i];
        v->legs[v->nlegs - 1 - i] = leg;
    }
    return true;
}

/* --- the model --- */

/* The node of each rank of the call, by the names of hosts; NULL without memory. */
static int *
place(const struct ar_read_trace_view *v)
{
    const int n = v->call->nparts;
    int *const node_of = malloc((size_t)(n + 1) * sizeof *node_of);
    int nodes = 0;
    for (int i = 0; node_of && i < n; i++) {
        int same = 0;
        while (same < i && strcmp(ar_read_trace_host(v->timeline, v->rows[same].rank),
                                  ar_read_trace_host(v->timeline, v->rows[i].rank)) != 0)
            same++;
        node_of[i] = same < i ? node_of[same] : nodes++;
    }
    return node_of;
}

/* An enum ar_exit, having said why it failed. */
static int
predict(struct ar_read_trace_view *v, const struct ar_machine *machine)
{
    struct ar_choice choice;
    const bool is_named = ar_ran_read(&choice, v->call->ran);
    if (v->call->nparts < v->call->nranks)
        v->unknown = "not all ranks of the communicator are in the file";
    else if (!is_named || choice.kind != AR_CHOICE_ALGORITHM)
        v->unknown = "it has no schedule for what ran";
    else if (v->call->nranks < 2 || v->call->bytes < 1)
        v->unknown = "nothing was sent";
    if (v->unknown)
        return AR_EXIT_DONE;
    int *const node_of = place(v);
    bool is_known = false;
    const int error = node_of ? ar_ran_predict(&v->predicted, &is_known, machine, node_of,
                                               v->call->nranks, choice, v->call->bytes)
                              : AR_ERR_MEMORY;
    free(node_of);
    if (!error && !is_known)
        v->unknown = "it ran in shared memory, but the ranks' hosts have several names";
    if (error)
        fprintf(stderr, "allreduce report: --machine: %s\n",
                error == AR_ERR_PARAM    ? "it has too few places for the call's nodes"
                : error == AR_ERR_MEMORY ? "out of memory"
                                         : "an algorithm failed");
    return error ? AR_EXIT_FAILED : AR_EXIT_DONE;
}

/* --- words --- */

static char *
us(double time, char text[AR_NUMBER_TEXT])
{
    return ar_time_print(time * 1e3, text, AR_NUMBER_TEXT);
}

char *
ar_read_trace_verdict(const struct ar_read_trace_view *v, char *text, size_t room)
{
    const struct ar_read_trace_call *const call = v->call;
    const double took = call->end - call->last;
    char time[AR_NUMBER_TEXT];
    struct ar_text t;
    ar_text_init(&t, text, room);
    if (v->first != v->last)
        ar_text_add(&t, "Rank %d came %s after rank %d. From then on ", v->rows[v->last].rank,
                    us(call->last - call->begin, time), v->rows[v->first].rank);
    else
        ar_text_add(&t, "In this call ");
    ar_text_add(&t, "the exchange took %s", us(took, time));
    if (v->unknown) {
        ar_text_add(&t, "; the model has no time for it.");
    } else if (v->setup > 0.1 * took) {
        ar_text_add(&t, ", with set-up of up to %s;", us(v->setup, time));
        ar_text_add(&t, " the model, which does not include set-up, predicts %s.",
                    us(v->predicted.end.at * 1e-3, time));
    } else {
        ar_text_add(&t, "; the model predicts %s", us(v->predicted.end.at * 1e-3, time));
        if (v->predicted.end.at > 0)
            ar_text_add(&t, ", so it took %s times as long",
                        ar_number_print(took * 1e3 / v->predicted.end.at, time, sizeof time));
        ar_text_add(&t, ".");
    }
    return text;
}

char *
ar_read_trace_path(const struct ar_read_trace_view *v, char *text, size_t room)
{
    enum { TOLD = 8 };
    const size_t skipped = v->nlegs > TOLD ? v->nlegs - TOLD : 0;
    struct ar_text t;
    ar_text_init(&t, text, room);
    if (v->nlegs < 2) {
        ar_text_add(&t,
                    "Rank %d returned last; the file shows nothing that it waited for and that was "
                    "sent after it came.",
                    v->rows[v->returned].rank);
        return text;
    }
    ar_text_add(
        &t, "The critical path leads from the arrival of rank %d to the last return, through ranks",
        v->rows[v->legs[0].row].rank);
    for (size_t i = 0; i < v->nlegs; i++)
        if (i == TOLD / 2 && skipped)
            ar_text_add(&t, ", ... (%zu more)", skipped);
        else if (i < TOLD / 2 || i >= TOLD / 2 + skipped)
            ar_text_add(&t, "%s %d", i ? "," : "", v->rows[v->legs[i].row].rank);
    ar_text_add(&t, ".");
    return text;
}

char *
ar_read_trace_model(const struct ar_read_trace_view *v, char *text, size_t room)
{
    static const char *const qualities[] = {"", " The prediction is approximate.",
                                            " It is an estimate, probably too short."};
    struct ar_text t;
    ar_text_init(&t, text, room);
    if (v->unknown)
        ar_text_add(&t, "The model has no time for %s: %s.", v->call->ran, v->unknown);
    else
        ar_text_add(&t, "The model's time is that of %s when all ranks come at once, on: %s.%s",
                    v->call->ran, v->machine, qualities[v->predicted.quality]);
    return text;
}

char *
ar_read_trace_caution(const struct ar_read_trace_view *v, char *text, size_t room)
{
    const struct ar_read_trace *const timeline = v->timeline;
    char time[AR_NUMBER_TEXT];
    struct ar_text t;
    ar_text_init(&t, text, room);
    *text = '\0';
    if (v->call->nparts < v->call->nranks)
        ar_text_add(&t, "The file has %d of the communicator's %d ranks.", v->call->nparts,
                    v->call->nranks);
    if (timeline->clock_error > 0)
        ar_text_add(&t, "%sThe clocks of the hosts agree to within %s.", *text ? " " : "",
                    us(timeline->clock_error, time));
    if (timeline->calls_lost > 0)
        ar_text_add(&t, "%s%.0f call%s of single ranks could not be recorded for lack of memory.",
                    *text ? " " : "", timeline->calls_lost,
                    ar_plural((size_t)timeline->calls_lost));
    return text;
}

/* --- printing --- */

static void
print_calls(const struct ar_read_trace_view *v)
{
    const struct ar_read_trace *const t = v->timeline;
    size_t numbers[AR_READ_TRACE_CALLS_TOLD];
    const size_t n = ar_read_trace_longest(t, numbers, AR_READ_TRACE_CALLS_TOLD);
    if (n < t->ncalls)
        printf("\nThe %zu longest of %zu calls; --call N shows another\n", n, t->ncalls);
    else
        printf("\n%zu call%s, the longest first; --call N shows another\n", n, ar_plural(n));
    printf("%8s %10s %10s %10s %6s %8s  %-24s %s\n", "call", "us", "late us", "exchange", "ranks",
           "bytes", "ran", "communicator");
    for (size_t i = 0; i < n; i++) {
        const struct ar_read_trace_call *const call = &t->calls[numbers[i]];
        const double us_of[] = {call->end - call->begin, call->last - call->begin,
                                call->end - call->last};
        char text[AR_NUMBER_TEXT], size[AR_SIZE_TEXT];
        printf("%8zu", numbers[i] + 1);
        for (size_t k = 0; k < 3; k++)
            printf(" %10s", ar_number_print(us_of[k], text, sizeof text));
        printf(" %6d %8s  %-24s %s\n", call->nranks,
               ar_size_print((size_t)call->bytes, size, sizeof size), call->ran,
               *call->comm ? call->comm : "-");
    }
}

static void
print_rows(const struct ar_read_trace_view *v, int most)
{
    printf("\n%6s %10s %10s %10s %10s %10s  %s\n", "rank", "came us", "set-up", "waiting", "work",
           "left us", "waited longest for");
    for (int i = 0; i < v->call->nparts && i < most; i++) {
        const struct ar_read_trace_row *const row = &v->rows[i];
        const double us_of[] = {row->begin - v->call->begin, row->setup, row->waiting, row->work,
                                row->end - v->call->begin};
        printf("%6d", row->rank);
        for (size_t k = 0; k < sizeof us_of / sizeof us_of[0]; k++) {
            char text[AR_NUMBER_TEXT];
            printf(" %10s", ar_number_print(us_of[k], text, sizeof text));
        }
        if (row->awaited >= 0)
            printf("  rank %d\n", row->awaited);
        else
            printf("  -\n");
    }
    if (most < v->call->nparts)
        printf("The first %d of %d ranks\n", most, v->call->nparts);
}

void
ar_read_trace_print(const struct ar_read_trace_view *v, int rows_most)
{
    const struct ar_read_trace *const t = v->timeline;
    const struct ar_read_trace_call *const call = v->call;
    char text[AR_READ_TRACE_TEXT];
    printf("%s with liballreduce %s (%s), %d rank%s, %s\n", t->program, t->version, t->family,
           t->ranks, ar_plural((size_t)t->ranks), t->when);
    printf("call %zu: %s bytes of %s, %s, on %d rank%s of %s, by %s (%s)\n\n", v->number,
           ar_size_print((size_t)call->bytes, text, sizeof text), call->type, call->op,
           call->nranks, ar_plural((size_t)call->nranks),
           *call->comm ? call->comm : "a communicator", call->ran, call->reason);
    printf("%s\n", ar_read_trace_verdict(v, text, sizeof text));
    printf("%s\n", ar_read_trace_path(v, text, sizeof text));
    printf("%s\n", ar_read_trace_model(v, text, sizeof text));
    if (*ar_read_trace_caution(v, text, sizeof text))
        printf("%s\n", text);
    print_rows(v, rows_most);
    print_calls(v);
}

/* --- the command --- */

/* The number of the call that is wanted, from 1; 0 for the longest. */
static int
pick(struct ar_read_trace_view *v, long number)
{
    const struct ar_read_trace *const t = v->timeline;
    size_t longest = 0;
    if (number > (long)t->ncalls) {
        fprintf(stderr, "allreduce report: --call: %s has calls 1 to %zu, but no call %ld\n",
                t->path, t->ncalls, number);
        return AR_EXIT_USAGE;
    }
    ar_read_trace_longest(t, &longest, 1);
    v->number = number ? (size_t)number : longest + 1;
    v->call = &t->calls[v->number - 1];
    return AR_EXIT_DONE;
}

/* An enum ar_exit, having said why it failed. */
static int
show(struct ar_read_trace_view *v, const struct ar_machine *machine, const char *html)
{
    if (!make_rows(v) || !make_path(v)) {
        fprintf(stderr, "allreduce report: out of memory\n");
        return AR_EXIT_FAILED;
    }
    int status = predict(v, machine);
    if (status != AR_EXIT_DONE)
        return status;
    ar_read_trace_print(v, INT_MAX);
    if (html)
        status = ar_read_trace_write_html(html, v);
    return status;
}

/* The machine of that file, or the usual one. */
static int
read_machine(struct ar_machine *machine, const char *file)
{
    if (file)
        return ar_cli_read_machine(machine, "report", file);
    *machine = ar_machine_flat(AR_CLI_LATENCY_US * 1e3, 1.0 / AR_CLI_GBYTES, 1.0 / AR_CLI_GBYTES);
    snprintf(machine->title, sizeof machine->title,
             "no particular machine, with messages of %d us and %d GB/s (see --machine)",
             AR_CLI_LATENCY_US, AR_CLI_GBYTES);
    return AR_EXIT_DONE;
}

int
ar_report_timeline(const char *path, long number, const char *machine_file, const char *html)
{
    struct ar_read_trace timeline;
    struct ar_machine machine;
    int status = read_machine(&machine, machine_file);
    if (status != AR_EXIT_DONE)
        return status;
    status = ar_read_trace_read(&timeline, path);
    if (status != AR_EXIT_DONE)
        return status;
    struct ar_read_trace_view view = {
        .timeline = &timeline,
        .machine = *machine.title ? machine.title : "a machine without a title",
    };
    status = pick(&view, number);
    if (status == AR_EXIT_DONE)
        status = show(&view, &machine, html);
    free(view.rows);
    free(view.legs);
    ar_read_trace_fini(&timeline);
    return status;
}
