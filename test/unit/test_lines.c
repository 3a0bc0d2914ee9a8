/* Cache lines of ranks that share memory: what the model counts, against simulated caches, and
 * times that one can work out by hand. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "coherence.h"
#include "model/node_predict.h"
#include "model/node_time.h"
#include "select/names.h"
#include "unit.h"

/* Times that doubles hold exactly. */
#define INNER 16.0
#define OUTER 128.0
#define SERVE 4.0
#define OWN   2.0

enum { PER_CACHE = 4, RANKS_MAX = 16 };

/* Nodes of 16 ranks, 4 to a cache. */
static const struct ar_machine node_of_caches = {
    .access = OWN,
    .ahead = 1,
    .ranks_per_node = 16,
    .ndomains = 2,
    .domains = {{.name = "l3",
                 .ranks = PER_CACHE,
                 .latency = INNER,
                 .per_byte = 0.25,
                 .serve = SERVE,
                 .cache_bytes = 1 << 20},
                {.name = "node", .ranks = 16, .latency = OUTER, .per_byte = 1, .serve = SERVE}},
};

/* --- the caches --- */

static void
lines_move_to_who_reads_them(void **state)
{
    struct coherence c;
    (void)state;
    coherence_init(&c, &node_of_caches, 8, 2);
    coherence_read(&c, 0, 0); /* of memory */
    assert_int_equal(coherence_state(&c, 0, 0), 'E');
    coherence_write(&c, 0, 0);
    assert_int_equal(coherence_state(&c, 0, 0), 'M');
    assert_true(c.moved[0] + c.moved[1] + c.taken_back == 0);
    coherence_read(&c, 1, 0); /* which shares the cache */
    coherence_read(&c, 1, 0);
    assert_true(c.moved[0] == 1 && c.moved[1] == 0);
    assert_true(coherence_state(&c, 0, 0) == 'S' && coherence_state(&c, 1, 0) == 'S');
    coherence_read(&c, 4, 0); /* which does not */
    coherence_read(&c, 5, 0); /* it is there by now */
    assert_true(c.moved[0] == 2 && c.moved[1] == 1);
    coherence_write(&c, 0, 0);
    assert_true(c.taken_back == 3 && coherence_state(&c, 5, 0) == 'I');
    coherence_read(&c, 5, 0);
    assert_true(c.moved[0] == 2 && c.moved[1] == 2);
    coherence_write(&c, 4, 0); /* it comes from 5's cache */
    assert_true(c.moved[0] == 3 && c.moved[1] == 2 && coherence_state(&c, 0, 0) == 'I');
    coherence_read(&c, 0, 0);
    assert_true(c.moved[1] == 3);
    coherence_write(&c, 0, 1); /* another line */
    assert_true(c.moved[0] == 3 && c.moved[1] == 3 && coherence_state(&c, 0, 0) == 'S');
    coherence_fini(&c);
}

static void
caches_that_nobody_shares_get_lines_from_their_writer(void **state)
{
    struct ar_machine machine = node_of_caches;
    struct coherence c;
    (void)state;
    machine.domains[0].cache_bytes = 0;
    coherence_init(&c, &machine, 8, 1);
    coherence_write(&c, 0, 0);
    for (int core = 1; core < 8; core++)
        coherence_read(&c, core, 0);
    assert_true(c.moved[0] == 3 && c.moved[1] == 4);
    coherence_fini(&c);
}

/* --- what is busy --- */

static void
requests_take_what_is_idle_in_whatever_order_they_are_told(void **state)
{
    struct ar_busy busy = {.n = 0};
    (void)state;
    assert_true(ar_busy_take(&busy, 100, 10) == 110);
    assert_true(ar_busy_take(&busy, 105, 10) == 120); /* after it */
    assert_true(ar_busy_take(&busy, 0, 50) == 50);    /* before it */
    assert_true(ar_busy_take(&busy, 40, 40) == 90);
    assert_true(ar_busy_take(&busy, 0, 15) == 125); /* 10 before, the others after */
    assert_true(ar_busy_take(&busy, 0, 1) == 126);
}

static void
the_latest_idle_times_are_remembered(void **state)
{
    enum { MORE = 10 };
    struct ar_busy busy = {.n = 0};
    (void)state;
    for (int i = 1; i <= AR_BUSY_IDLE + MORE; i++)
        ar_busy_take(&busy, 2 * i, 1);
    /* The last one is without end. */
    for (int i = 0; i < AR_BUSY_IDLE - 1; i++)
        assert_true(ar_busy_take(&busy, 0, 1) == 2 * (MORE + i + 2));
    assert_true(ar_busy_take(&busy, 0, 1) == 2 * (AR_BUSY_IDLE + MORE) + 2);
}

/* --- accesses, made by hand --- */

static struct ar_access_place
place_of(int rank, int flag, size_t length, size_t offset)
{
    return (struct ar_access_place){
        .is_shared = true, .rank = rank, .flag = flag, .length = length, .offset = offset};
}

static void
add(struct ar_accesses *x, enum ar_access_kind kind, size_t length, struct ar_access_place place)
{
    const struct ar_access_place out = {.buffer = AR_OUT};
    const bool is_own = kind == AR_ACCESS_STORE || kind == AR_ACCESS_RAISE;
    x->all[x->n++] = (struct ar_access){
        .kind = kind, .length = length, .dst = is_own ? place : out, .a = is_own ? out : place};
}

static void
end_stage(struct ar_accesses *x)
{
    x->stage_end[x->nstages++] = x->n;
}

static void
start(struct ar_accesses *x, int rank, int nranks)
{
    *x = (struct ar_accesses){.rank = rank, .nranks = nranks, .nflags = 2};
    x->all = calloc(256, sizeof *x->all);
    x->stage_end = calloc(64, sizeof *x->stage_end);
    assert_non_null(x->all);
    assert_non_null(x->stage_end);
}

static void
finish(struct ar_accesses *all, int nranks)
{
    for (int r = 0; r < nranks; r++) {
        free(all[r].all);
        free(all[r].stage_end);
    }
}

/* Each rank stores so many elements and reads all others'. */
static void
make_exchange(struct ar_accesses *all, int nranks, size_t length)
{
    for (int r = 0; r < nranks; r++) {
        struct ar_accesses *const x = &all[r];
        start(x, r, nranks);
        x->meets_readers = true;
        x->nmet = 1;
        add(x, AR_ACCESS_STORE, length, place_of(r, 0, length, 0));
        add(x, AR_ACCESS_RAISE, 0, place_of(r, 0, length, 0));
        end_stage(x);
        for (int i = 1; i < nranks; i++) {
            const int other = (r + i) % nranks;
            add(x, AR_ACCESS_AWAIT, 0, place_of(other, 0, length, 0));
            add(x, AR_ACCESS_COMBINE, length, place_of(other, 0, length, 0));
        }
        end_stage(x);
    }
}

/* Rank 0 stores, all others read; others' loads begin at element r * shift. */
static void
make_broadcast(struct ar_accesses *all, int nranks, size_t length, size_t shift)
{
    for (int r = 0; r < nranks; r++) {
        struct ar_accesses *const x = &all[r];
        const size_t offset = (size_t)r * shift;
        start(x, r, nranks);
        if (r == 0) {
            add(x, AR_ACCESS_STORE, length, place_of(0, 1, length, 0));
            add(x, AR_ACCESS_RAISE, 0, place_of(0, 1, length, 0));
        }
        end_stage(x);
        if (r > 0) {
            add(x, AR_ACCESS_AWAIT, 0, place_of(0, 1, length, 0));
            add(x, AR_ACCESS_LOAD, length - offset, place_of(0, 1, length, offset));
        }
        end_stage(x);
    }
}

static struct ar_node_time
simulate(const struct ar_node_simulation *run)
{
    struct ar_node_time end;
    double sum = 0;
    assert_int_equal(ar_node_simulate(&end, run), AR_OK);
    for (int i = 0; i < AR_NODE_PARTS; i++)
        sum += end.parts[i];
    assert_true(fabs(sum - end.at) < 1e-6 * end.at);
    return end;
}

/* Of chunks whose lines have not been taken back before. */
static struct ar_node_time
time_of(const struct ar_machine *machine, const struct ar_accesses *all, int nranks, size_t nchunks)
{
    const struct ar_node_simulation run = {machine, all, nranks, nchunks, 1, false};
    return simulate(&run);
}

/* Of a call in which they have. */
static struct ar_node_time
time_of_call(const struct ar_machine *machine, const struct ar_accesses *all, int nranks)
{
    const struct ar_node_simulation run = {machine, all, nranks, 1, 1, true};
    return simulate(&run);
}

/* --- counts --- */

/* All chunks of all ranks on simulated caches, each rank's accesses in their order; whose turn it
 * is chance decides, among those that need not wait. */
static void
run_on_caches(struct coherence *c, const struct ar_accesses *all, int nranks, size_t element_bytes,
              unsigned *seed)
{
    enum { LINES = 64, FLAGS = 2 };
    size_t next[RANKS_MAX] = {0};
    bool raised[RANKS_MAX][FLAGS] = {{false}};
    for (int left = nranks; left > 0;) {
        *seed = *seed * 1103515245 + 12345;
        const int r = (int)(*seed >> 16) % nranks;
        if (next[r] == all[r].n)
            continue;
        const struct ar_access *const x = &all[r].all[next[r]];
        const struct ar_access_place *const places[] = {&x->dst, &x->a, &x->b};
        if (x->kind == AR_ACCESS_AWAIT && !raised[x->a.rank][x->a.flag])
            continue;
        for (int i = 0; i < 3; i++) {
            const bool is_flag = x->kind == AR_ACCESS_AWAIT || x->kind == AR_ACCESS_RAISE;
            const struct ar_lines lines = is_flag
                                              ? (struct ar_lines){0, 1}
                                              : ar_lines_of(places[i], x->length, element_bytes);
            for (size_t l = lines.first; places[i]->is_shared && l < lines.first + lines.n; l++) {
                const size_t line =
                    ((size_t)places[i]->rank * FLAGS + (size_t)places[i]->flag) * LINES + l;
                if (i == 0)
                    coherence_write(c, r, line);
                else
                    coherence_read(c, r, line);
            }
        }
        if (x->kind == AR_ACCESS_RAISE)
            raised[r][x->dst.flag] = true;
        left -= ++next[r] == all[r].n;
    }
}

static void
counts_are_those_of_caches(const struct ar_machine *machine, const struct ar_accesses *all,
                           int nranks, size_t element_bytes)
{
    enum { CHUNKS = 3 };
    struct coherence c;
    struct ar_lines_count count;
    unsigned seed = (unsigned)nranks;
    coherence_init(&c, machine, nranks, (size_t)RANKS_MAX * 2 * 64);
    for (int chunk = 0; chunk < CHUNKS; chunk++)
        run_on_caches(&c, all, nranks, element_bytes, &seed);
    assert_int_equal(ar_lines_count(&count, machine, all, nranks, element_bytes), AR_OK);
    for (int l = 0; l < machine->ndomains; l++)
        if (CHUNKS * count.all[l] != c.moved[l])
            fail_msg("%d ranks, level %d: %zu lines, on caches %zu", nranks, l,
                     CHUNKS * count.all[l], c.moved[l]);
    coherence_fini(&c);
}

static void
the_model_counts_what_caches_move(void **state)
{
    static const size_t lengths[] = {1, 6, 48, 49, 64, 65, 300};
    struct ar_machine alone = node_of_caches;
    struct ar_accesses all[RANKS_MAX];
    (void)state;
    alone.domains[0].cache_bytes = 0;
    for (int p = 2; p <= RANKS_MAX; p++)
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
            for (size_t element_bytes = 1; element_bytes <= 8; element_bytes *= 8) {
                make_exchange(all, p, lengths[i]);
                counts_are_those_of_caches(&node_of_caches, all, p, element_bytes);
                counts_are_those_of_caches(&alone, all, p, element_bytes);
                finish(all, p);
                make_broadcast(all, p, lengths[i], lengths[i] / (size_t)p);
                counts_are_those_of_caches(&node_of_caches, all, p, element_bytes);
                counts_are_those_of_caches(&alone, all, p, element_bytes);
                finish(all, p);
            }
}

static void
a_line_from_without_comes_once(void **state)
{
    struct ar_accesses all[RANKS_MAX];
    struct ar_lines_count count;
    (void)state;
    make_exchange(all, 16, 1);
    assert_int_equal(ar_lines_count(&count, &node_of_caches, all, 16, 8), AR_OK);
    assert_int_equal(count.all[0] + count.all[1], 16 * 15);
    assert_int_equal(count.all[1], 4 * 12); /* each cache takes those of 12 ranks */
    assert_true(count.most[0] == 3 && count.most[1] == 12);
    finish(all, 16);
}

/* --- times --- */

static void
two_ranks_take_a_line_each_way(void **state)
{
    struct ar_accesses all[2];
    (void)state;
    make_exchange(all, 2, 8);
    /* Stored, raised, seen when it has been taken back, awaited, combined. */
    const struct ar_node_time end = time_of(&node_of_caches, all, 2, 1);
    assert_true(end.at == 4 * OWN + 2 * INNER);
    assert_true(end.parts[AR_NODE_LATENCY] == INNER && end.parts[AR_NODE_BACK] == INNER);
    assert_true(end.parts[AR_NODE_OWN] == 4 * OWN);
    finish(all, 2);
}

static void
elements_follow_their_flag(void **state)
{
    struct ar_machine machine = node_of_caches;
    struct ar_accesses all[2];
    (void)state;
    machine.copy_per_byte = 0.125;
    make_broadcast(all, 2, 640, 0);
    const struct ar_node_time end = time_of(&machine, all, 2, 1);
    /* Ten lines: the first takes a latency, nine follow, in which those before are copied. */
    assert_true(end.at == 4 * OWN + 640 * 0.125 + 3 * INNER + 9 * 64 * 0.25 - OWN);
    assert_true(end.parts[AR_NODE_STREAM] == 9 * 64 * 0.25);
    finish(all, 2);
}

static void
readers_of_a_line_are_served_one_after_the_other(void **state)
{
    struct ar_machine machine = node_of_caches;
    struct ar_accesses all[RANKS_MAX];
    (void)state;
    machine.domains[0] = machine.domains[1];
    machine.ndomains = 1;
    for (int p = 2; p <= RANKS_MAX; p++) {
        make_broadcast(all, p, 8, 0);
        const struct ar_node_time end = time_of(&machine, all, p, 1);
        assert_true(end.at == 4 * OWN + 2 * OUTER + (p - 2) * SERVE);
        assert_true(end.parts[AR_NODE_SERVING] == (p - 2) * SERVE);
        finish(all, p);
    }
}

/* Of 12 ranks in other caches only the first of each takes the line from the owner. */
static void
readers_of_a_cache_share_what_one_brought(void **state)
{
    struct ar_accesses all[RANKS_MAX];
    (void)state;
    make_broadcast(all, 16, 8, 0);
    const double shared = time_of(&node_of_caches, all, 16, 1).at;
    struct ar_machine alone = node_of_caches;
    alone.domains[0].cache_bytes = 0;
    assert_true(shared < time_of(&alone, all, 16, 1).at);
    assert_true(shared >= 4 * OWN + 2 * OUTER);
    finish(all, 16);
}

/* Rank 0 waits for a late flag from outside its cache.  Rank 1 has asked for an early flag's line
 * before that, while it was still at work, and looks at the flag last of all.  That line has waited
 * for no other. */
static void
lines_pass_a_link_in_the_order_in_which_they_are_asked_for(void **state)
{
    enum { LATE = 1024, LAST = 2 * LATE, EARLY_OWNER = PER_CACHE, LATE_OWNER, RANKS };
    static const size_t copied[RANKS] = {[1] = LAST, [LATE_OWNER] = LATE};
    struct ar_machine machine = node_of_caches;
    struct ar_accesses all[RANKS];
    (void)state;
    machine.copy_per_byte = 1;
    machine.domains[0].link_per_byte = 16;
    for (int r = 0; r < RANKS; r++) {
        start(&all[r], r, RANKS);
        if (copied[r] > 0)
            all[r].all[all[r].n++] =
                (struct ar_access){.kind = AR_ACCESS_COPY, .length = copied[r]};
        if (r >= EARLY_OWNER)
            add(&all[r], AR_ACCESS_RAISE, 0, place_of(r, 0, 1, 0));
        if (r <= 1)
            add(&all[r], AR_ACCESS_AWAIT, 0, place_of(r == 0 ? LATE_OWNER : EARLY_OWNER, 0, 1, 0));
        end_stage(&all[r]);
    }
    const struct ar_node_time end = time_of(&machine, all, RANKS, 1);
    assert_true(end.at == LAST + 2 * OWN);
    finish(all, RANKS);
}

/* The next line asked for is that of the ninth flag, when the first has come. */
static void
lines_of_eight_flags_of_a_stage_overlap(void **state)
{
    struct ar_machine machine = node_of_caches;
    struct ar_accesses all[RANKS_MAX];
    (void)state;
    machine.domains[0] = machine.domains[1];
    machine.domains[0].serve = 0;
    machine.ndomains = 1;
    for (int p = 2; p <= RANKS_MAX; p++) {
        const int behind = p > 9 ? p - 9 : 0; /* of a rank's p - 1 flags */
        make_exchange(all, p, 1);
        const struct ar_node_time end = time_of(&machine, all, p, 1);
        const double first = 2 * OWN + 2 * OUTER;
        if (behind == 0)
            assert_true(end.at == first + (p - 1) * 2 * OWN);
        else
            assert_true(end.at == first + 2 * OWN + OUTER + behind * 2 * OWN);
        assert_true(end.parts[AR_NODE_LATENCY] == (behind == 0 ? 1 : 2) * OUTER);
        finish(all, p);
    }
}

/* On two ranks, a message of more than 256 bytes is asked for only when its flag has come. */
static void
a_short_message_comes_along_with_its_flag(void **state)
{
    struct ar_accesses all[2];
    (void)state;
    for (size_t length = 255; length <= 257; length++) {
        const size_t further = (length - 1) / AR_LINE_BYTES;
        make_broadcast(all, 2, length, 0);
        all[1].all[0].length = length;
        const struct ar_node_time end = time_of(&node_of_caches, all, 2, 1);
        const double latencies = (length <= 256 ? 2 : 3) * INNER;
        assert_true(end.at == 3 * OWN + latencies + (double)(further * AR_LINE_BYTES) * 0.25);
        finish(all, 2);
    }
}

/* On more than two ranks, so is one of more than 128 bytes. */
static void
of_more_ranks_a_shorter_one_does(void **state)
{
    struct ar_accesses all[3];
    double end[4] = {0};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        make_broadcast(all, 3, 127 + i, 0);
        for (int r = 1; r < 3; r++)
            all[r].all[0].length = 127 + i;
        end[i] = time_of(&node_of_caches, all, 3, 1).at;
        finish(all, 3);
    }
    assert_true(end[1] == end[0] && end[3] == end[2]);
    assert_true(end[2] == end[1] + INNER + (double)AR_LINE_BYTES * 0.25); /* a line more, too */
}

static void
short_messages_were_taken_back_in_the_call_before(void **state)
{
    struct ar_accesses all[2];
    (void)state;
    make_exchange(all, 2, 8);
    const struct ar_node_time end = time_of_call(&node_of_caches, all, 2);
    assert_true(end.at == 4 * OWN + INNER && end.parts[AR_NODE_BACK] == 0);
    finish(all, 2);
    for (size_t length = 255; length <= 257; length++) {
        make_broadcast(all, 2, length, 0);
        assert_true(time_of_call(&node_of_caches, all, 2).parts[AR_NODE_BACK] ==
                    (length <= 256 ? 0 : INNER));
        finish(all, 2);
    }
}

/* Rank 0 copies `copied` bytes before it raises its flag, for which `waiting` ranks wait.  Earlier
 * in the same stage, these wait for the flags of `others` more, which are up from the start. */
static struct ar_node_time
time_of_late_flag(size_t copied, int waiting, int others)
{
    struct ar_machine machine = node_of_caches;
    struct ar_accesses all[RANKS_MAX];
    const int n = 1 + waiting + others;
    machine.copy_per_byte = 1;
    machine.ahead = 16; /* it looks at each flag at once */
    machine.domains[0].ranks = 16;
    machine.ndomains = 1;
    machine.domains[0].serve = 0;
    for (int r = 0; r < n; r++) {
        start(&all[r], r, n);
        if (r == 0)
            all[0].all[all[0].n++] = (struct ar_access){.kind = AR_ACCESS_COPY, .length = copied};
        if (r == 0 || r > waiting)
            add(&all[r], AR_ACCESS_RAISE, 0, place_of(r, 0, 1, 0));
        end_stage(&all[r]);
        for (int i = 0; i < others && 0 < r && r <= waiting; i++)
            add(&all[r], AR_ACCESS_AWAIT, 0, place_of(1 + waiting + i, 0, 1, 0));
        if (0 < r && r <= waiting)
            add(&all[r], AR_ACCESS_AWAIT, 0, place_of(0, 0, 1, 0));
        end_stage(&all[r]);
    }
    const struct ar_node_time end = time_of_call(&machine, all, n);
    finish(all, n);
    return end;
}

/* Rank 1 begins to wait at once, and what it asks for is with rank 0 half a latency later. */
static void
who_waits_has_the_line_that_is_then_raised(void **state)
{
    (void)state;
    for (size_t copied = 0; copied <= 16; copied++) {
        const double raised = (double)copied + 2 * OWN, back = raised > INNER / 2 ? INNER : 0;
        const struct ar_node_time end = time_of_late_flag(copied, 1, 0);
        assert_true(end.parts[AR_NODE_BACK] == back);
        assert_true(end.at == raised + back + INNER + OWN);
    }
}

/* A rank asks for the last of eight flags while it waits for the first, and for a ninth after it.
 */
static void
who_waits_for_one_of_seven_flags_before_has_the_line_too(void **state)
{
    (void)state;
    for (int others = 0; others <= 9; others++) {
        const struct ar_node_time end = time_of_late_flag(12, 1, others);
        assert_true(end.parts[AR_NODE_BACK] == (others <= 7 ? INNER : 0));
    }
}

/* Each awaited flag has a stage of its own. */
static void
split_stages(struct ar_accesses *all, int nranks)
{
    for (int r = 0; r < nranks; r++) {
        struct ar_accesses *const x = &all[r];
        x->nstages = 0;
        for (size_t i = 0; i < x->n; i++)
            if (i > 0 && x->all[i].kind == AR_ACCESS_AWAIT)
                x->stage_end[x->nstages++] = i;
        end_stage(x);
    }
}

/* A core that looks ahead waits for as many lines at once. */
static void
lines_of_flags_in_a_row_overlap(void **state)
{
    struct ar_machine machine = node_of_caches;
    struct ar_accesses all[RANKS_MAX];
    double before = INFINITY;
    (void)state;
    machine.domains[0] = machine.domains[1];
    machine.domains[0].serve = 0;
    machine.ndomains = 1;
    make_exchange(all, 16, 1);
    split_stages(all, 16);
    for (int ahead = 1; ahead <= 8; ahead *= 2) {
        machine.ahead = ahead;
        const struct ar_node_time end = time_of(&machine, all, 16, 1);
        const int in_turn = 15 / ahead;
        assert_true(end.at < before && end.at > OUTER * in_turn);
        before = end.at;
    }
    finish(all, 16);
}

/* Where chunks overlap, more of them take less than one after the other. */
static void
chunks_that_overlap_take_less(void **state)
{
    struct ar_accesses all[RANKS_MAX];
    (void)state;
    make_exchange(all, 8, 1024);
    const double one = time_of(&node_of_caches, all, 8, 1).at;
    const double four = time_of(&node_of_caches, all, 8, 4).at;
    for (int r = 0; r < 8; r++)
        all[r].meets_readers = false;
    const double apart = time_of(&node_of_caches, all, 8, 4).at;
    assert_true(one < four && four < apart);
    finish(all, 8);
}

/* Of rank, of 12 ranks in groups of inner and of outer ranks, the first n of these levels. */
static void
make_groups(struct ar_accesses *x, int rank, size_t count, size_t whole, int n, int inner,
            int outer)
{
    enum { RANKS = 12 };
    struct ar_grouping grouping;
    struct ar_params params = ar_algorithm_find("shm", 3)->defaults;
    int in_inner[RANKS], in_outer[RANKS];
    const int *const domain[] = {in_inner, in_outer};
    for (int r = 0; r < RANKS; r++) {
        in_inner[r] = r / inner;
        in_outer[r] = r / outer;
    }
    assert_int_equal(ar_grouping_init(&grouping, RANKS, n, domain), AR_OK);
    params.grouping = &grouping;
    params.whole_bytes = whole;
    struct ar_emission e = {ar_algorithm_find("shm", 3), &params, RANKS, count};
    assert_int_equal(ar_accesses_init(x, rank, RANKS, 8, ar_algorithm_source, &e), AR_OK);
    ar_grouping_fini(&grouping);
}

/* In threes and sixes if equal, else in fours and eights. */
static void
make_shm(struct ar_accesses *x, int rank, size_t count, size_t whole, bool by_levels, bool equal)
{
    make_groups(x, rank, count, whole, by_levels ? 2 : 0, equal ? 3 : 4, equal ? 6 : 8);
}

static void
by_equal_groups_chunks_overlap_and_nothing_is_loaded_to_be_combined(void **state)
{
    static const size_t counts[] = {12, 1000, 8192};
    (void)state;
    for (size_t c = 0; c < 3; c++)
        for (int rank = 0; rank < 12; rank++) {
            struct ar_accesses equal, other, all, whole;
            make_shm(&equal, rank, counts[c], 0, true, true);
            make_shm(&other, rank, counts[c], 0, true, false);
            make_shm(&all, rank, counts[c], 0, false, false);
            make_shm(&whole, rank, counts[c], SIZE_MAX, true, true);
            assert_true(equal.meets_readers && equal.nmet == 3);
            assert_int_equal(equal.nstages, 6); /* sixes read all results at once */
            assert_true(all.meets_readers && all.nmet == 1 && all.nstages == 3);
            assert_true(!other.meets_readers);
            assert_true(whole.meets_readers && whole.nmet == 3 && whole.nstages == 4);
            for (size_t i = 0; i < equal.n; i++)
                assert_true(equal.all[i].kind != AR_ACCESS_LOAD ||
                            equal.all[i].dst.buffer == AR_OUT);
            for (size_t i = 0; i < whole.n; i++)
                assert_int_not_equal(whole.all[i].kind, AR_ACCESS_LOAD);
            ar_accesses_fini(&equal);
            ar_accesses_fini(&other);
            ar_accesses_fini(&all);
            ar_accesses_fini(&whole);
        }
}

/* Flags that a rank awaits in the end; x is freed. */
static size_t
awaited_in_the_end(struct ar_accesses *x)
{
    size_t n = 0;
    for (size_t i = x->stage_end[x->nstages - 2]; i < x->stage_end[x->nstages - 1]; i++)
        n += x->all[i].kind == AR_ACCESS_AWAIT;
    ar_accesses_fini(x);
    return n;
}

static void
short_results_of_two_equal_levels_are_read_at_once(void **state)
{
    struct ar_accesses threes, fives; /* of the fives two ranks are missing */
    (void)state;
    make_groups(&threes, 0, 12, 1, 1, 3, 12);
    make_groups(&fives, 0, 12, 1, 1, 5, 12);
    assert_int_equal(awaited_in_the_end(&threes), 11);
    assert_int_equal(awaited_in_the_end(&fives), 4);
}

static void
short_results_go_down_level_by_level(void **state)
{
    (void)state;
    for (int rank = 0; rank < 12; rank++)
        for (size_t whole = 1; whole <= 4; whole++) {
            struct ar_accesses is_short, is_long;
            make_shm(&is_short, rank, 6 * whole, whole, true, true);
            make_shm(&is_long, rank, 6 * whole + 6, whole, true, true);
            assert_int_equal(awaited_in_the_end(&is_short), 2);
            assert_int_equal(awaited_in_the_end(&is_long), 5);
        }
}

/* Twelve ranks in fours and eights.  The fours are equal, and the last of them is alone in its
 * eight.  Two rounds are those of the fours. */
static void
short_shares_of_equal_groups_are_combined_whole_in_unequal_ones(void **state)
{
    (void)state;
    for (int rank = 0; rank < 12; rank++)
        for (size_t whole = 1; whole <= 4; whole++) {
            const size_t levels_above = rank < 8 ? 2 : 1;
            struct ar_accesses is_short, is_long;
            make_shm(&is_short, rank, 4 * whole, whole, true, false);
            make_shm(&is_long, rank, 4 * whole + 4, whole, true, false);
            assert_int_equal(is_short.nstages, 1 + 2 + levels_above);
            assert_true(is_long.nstages > is_short.nstages);
            ar_accesses_fini(&is_short);
            ar_accesses_fini(&is_long);
        }
}

static void
the_third_chunk_waits_until_all_have_begun_the_first(void **state)
{
    const size_t none = SIZE_MAX;
    const size_t by_levels[] = {0, 1, none, none, 2, 3, 4};
    (void)state;
    for (size_t tick = 0; tick < 7; tick++) {
        assert_int_equal(ar_accesses_chunk_at(tick, 3), by_levels[tick]);
        assert_int_equal(ar_accesses_chunk_at(tick, 1), tick);
    }
}

static void
who_waits_for_ever_is_found(void **state)
{
    struct ar_accesses all[2];
    struct ar_node_time end;
    (void)state;
    make_exchange(all, 2, 8);
    all[0].all[1].dst.flag = 1; /* not the one that is awaited */
    const struct ar_node_simulation run = {&node_of_caches, all, 2, 1, 1, false};
    assert_int_equal(ar_node_simulate(&end, &run), AR_ERR_PROOF);
    finish(all, 2);
}

/* --- the algorithm --- */

static struct ar_node_prediction
predict(const struct ar_machine *machine, int nranks, size_t bytes, struct ar_levels levels)
{
    struct ar_choice choice = ar_choice_default(ar_algorithm_find("shm", 3));
    struct ar_node_prediction p;
    choice.params.levels = levels;
    const struct ar_question q = {.machine = machine,
                                  .choice = &choice,
                                  .nranks = nranks,
                                  .count = bytes,
                                  .element_bytes = 1};
    assert_true(ar_node_knows(&q));
    assert_int_equal(ar_node_predict(&p, &q), AR_OK);
    return p;
}

static const struct ar_levels flat = {.kind = AR_LEVELS_FLAT}, by_auto = {.kind = AR_LEVELS_AUTO};

static void
shm_goes_by_the_levels_of_the_machine(void **state)
{
    const struct ar_levels fours = {AR_LEVELS_SIZES, 1, {4}, 0};
    (void)state;
    const struct ar_node_prediction all = predict(&node_of_caches, 16, 8, flat);
    const struct ar_node_prediction found = predict(&node_of_caches, 16, 8, by_auto);
    const struct ar_node_prediction said = predict(&node_of_caches, 16, 8, fours);
    assert_true(found.levels.kind == AR_LEVELS_NAMES && found.levels.n == 1);
    assert_true(found.end.at == said.end.at && found.end.at < all.end.at);
    /* Each of 16 ranks takes 3 lines in its cache, and 3 of other caches. */
    assert_true(found.lines.all[0] == 48 && found.lines.all[1] == 48);
    assert_true(found.lines.most[0] == 3 && found.lines.most[1] == 3);
    /* Each cache takes those of 12 ranks. */
    assert_true(all.lines.all[0] == 16 * 15 - 48 && all.lines.all[1] == 48);
    assert_true(found.up_and_down == 2 * INNER + OUTER && all.up_and_down == OUTER);
    assert_true(found.bound.limits[found.bound.most] == OUTER);
    assert_true(found.nchunks == 1 && found.nstages == 3);
}

static void
long_vectors_wait_for_memory(void **state)
{
    struct ar_machine machine = node_of_caches;
    const size_t fits = machine.domains[0].cache_bytes / 2 / PER_CACHE;
    (void)state;
    machine.domains[1].memory_per_byte = 1024;
    assert_true(predict(&machine, 16, fits, by_auto).bound.limits[AR_NODE_LIMIT_MEMORY] == 0);
    const struct ar_node_prediction p = predict(&machine, 16, fits + 1, by_auto);
    assert_true(p.bound.limits[AR_NODE_LIMIT_MEMORY] == 3.0 * 16 * (double)(fits + 1) * 1024);
    assert_true(p.end.at == p.bound.limits[AR_NODE_LIMIT_MEMORY]);
    assert_true(p.bound.most == AR_NODE_LIMIT_MEMORY);
    assert_true(p.end.parts[AR_NODE_MEMORY] > 0);
}

/* --- the bound --- */

/* 16 ranks in 4 caches, 16 bytes: a byte of each rank. */
static void
the_bound_is_the_longest_of_five_times(void **state)
{
    struct ar_machine m = node_of_caches;
    (void)state;
    m.reduce_per_byte = 0.5;
    m.copy_per_byte = 0.25;
    m.domains[0].link_per_byte = 8;
    const struct ar_node_bound slots = ar_node_bound_find(&m, 16, 16);
    assert_true(slots.limits[AR_NODE_LIMIT_LATENCY] == OUTER);
    /* 15 combinations, 15 copies of results; 16 copies into slots. */
    assert_true(slots.limits[AR_NODE_LIMIT_OWN] == 15 * 0.5 + 31 * 0.25);
    /* Of 30 messages 6 are between the caches. */
    assert_true(slots.limits[AR_NODE_LIMIT_LINES] == 24 * 0.25 + 6 * 1);
    assert_true(slots.limits[AR_NODE_LIMIT_LINKS] == 16 * 6 / 4.0 * 8);
    assert_true(slots.limits[AR_NODE_LIMIT_MEMORY] == 0 && slots.most == AR_NODE_LIMIT_LINKS);
    /* Combining is the faster way to a result, and the outer level the faster one. */
    m.copy_per_byte = 1;
    m.domains[0].per_byte = 2;
    m.domains[0].link_per_byte = 0;
    const struct ar_node_bound other = ar_node_bound_find(&m, 16, 160);
    assert_true(other.limits[AR_NODE_LIMIT_OWN] == 10 * (30 * 0.5 + 16 * 1));
    assert_true(other.limits[AR_NODE_LIMIT_LINES] == 10 * 30 * 1);
    assert_true(other.limits[AR_NODE_LIMIT_LINKS] == 0 && other.most == AR_NODE_LIMIT_OWN);
    /* 6 ranks are in two caches, of which one is full. */
    assert_true(ar_node_bound_find(&m, 6, 16).limits[AR_NODE_LIMIT_LATENCY] == OUTER);
    m.domains[0].link_per_byte = 8;
    assert_true(ar_node_bound_find(&m, 6, 16).limits[AR_NODE_LIMIT_LINKS] == 16 * 8);
    m.domains[0].cache_bytes = 4 * 2 * 16 - 1;
    m.domains[0].memory_per_byte = 16;
    assert_true(ar_node_bound_find(&m, 6, 16).limits[AR_NODE_LIMIT_MEMORY] == 12 * 16 * 16);
    assert_true(ar_node_bound_find(&m, 6, 16).most == AR_NODE_LIMIT_MEMORY);
}

static void
no_prediction_is_below_the_bound(void **state)
{
    struct ar_machine m = node_of_caches;
    (void)state;
    m.reduce_per_byte = 0.125;
    m.copy_per_byte = 0.25;
    m.domains[0].link_per_byte = 0.5;
    m.domains[1].memory_per_byte = 0.125;
    for (int p = 2; p <= RANKS_MAX; p++)
        for (size_t bytes = 8; bytes <= (size_t)4 << 20; bytes *= 8)
            for (int way = 0; way < 2; way++) {
                const struct ar_node_prediction found = predict(&m, p, bytes, way ? by_auto : flat);
                for (int i = 0; i < AR_NODE_LIMITS; i++)
                    assert_true(found.end.at >= found.bound.limits[i]);
            }
}

/* --- what is predicted of shm --- */

/* Stages: one more than rounds. */
static void
chunks_and_forms_are_those_of_the_executor(void **state)
{
    static const size_t bytes[] = {8, 4096, 65536, (size_t)1 << 20};
    (void)state;
    for (int p = 2; p <= 8; p += 2)
        for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++) {
            const struct ar_shm_tuning tuning = ar_shm_tune(p, AR_USUAL_CACHE, false);
            const struct ar_node_prediction found = predict(&node_of_caches, p, bytes[i], flat);
            const size_t chunks = (bytes[i] + tuning.chunk_bytes - 1) / tuning.chunk_bytes;
            assert_int_equal(found.nchunks, chunks);
            assert_int_equal(found.nstages, bytes[i] <= tuning.whole_bytes ? 2 : 3);
        }
    /* Two ranks, each with a core, combine all of any message. */
    assert_int_equal(predict(&node_of_caches, 2, (size_t)1 << 20, flat).nstages, 2);
}

/* The chunks that are not simulated go on as those before. */
static void
many_chunks_take_as_long_each(void **state)
{
    const size_t chunk = (size_t)64 << 10;
    (void)state;
    const struct ar_node_prediction some = predict(&node_of_caches, 8, 16 * chunk, by_auto);
    const struct ar_node_prediction more = predict(&node_of_caches, 8, 32 * chunk, by_auto);
    assert_true(some.nchunks == 16 && more.nchunks == 32 && some.simulated < 16);
    assert_true(fabs(more.end.at - 2 * some.end.at) < 0.1 * some.end.at);
    assert_true(more.lines.all[1] == 2 * some.lines.all[1]);
    double sum = 0;
    for (int i = 0; i < AR_NODE_PARTS; i++) {
        assert_true(more.end.parts[i] >= 0);
        sum += more.end.parts[i];
    }
    assert_true(fabs(sum - more.end.at) < 1e-6 * sum);
}

/* Each of two ranks copies n bytes, takes n bytes of the other and combines them. */
static void
long_vectors_take_their_work_or_their_lines(void **state)
{
    const size_t n = (size_t)1 << 20;
    const double bytes = (double)n;
    struct ar_machine fast = node_of_caches, slow = node_of_caches;
    (void)state;
    fast.domains[0].per_byte = 0;
    fast.copy_per_byte = fast.reduce_per_byte = 0.25;
    slow.domains[0].per_byte = 0.25;
    const struct ar_node_prediction work = predict(&fast, 2, n, flat),
                                    lines = predict(&slow, 2, n, flat);
    assert_true(fabs(work.end.at - 2 * bytes * 0.25) < 0.01 * work.end.at);
    assert_true(fabs(lines.end.at - bytes * 0.25) < 0.01 * lines.end.at);
}

static void
only_ranks_that_share_memory_are_known(void **state)
{
    struct ar_machine unknown = node_of_caches;
    struct ar_choice shm = ar_choice_default(ar_algorithm_find("shm", 3));
    struct ar_choice ring = ar_choice_default(ar_algorithm_find("ring", 4));
    const int apart[] = {0, 1};
    struct ar_question q = {
        .machine = &node_of_caches, .choice = &shm, .nranks = 2, .count = 8, .element_bytes = 1};
    (void)state;
    assert_true(ar_node_knows(&q));
    q.choice = &ring;
    assert_false(ar_node_knows(&q));
    q.choice = &shm;
    q.nranks = 17;
    assert_false(ar_node_knows(&q));
    q.nranks = 2;
    shm.params.node_of = apart;
    assert_false(ar_node_knows(&q));
    shm.params.node_of = NULL;
    unknown.ndomains = 0;
    q.machine = &unknown;
    assert_false(ar_node_knows(&q));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_move_to_who_reads_them),
        cmocka_unit_test(caches_that_nobody_shares_get_lines_from_their_writer),
        cmocka_unit_test(the_model_counts_what_caches_move),
        cmocka_unit_test(a_line_from_without_comes_once),
        cmocka_unit_test(two_ranks_take_a_line_each_way),
        cmocka_unit_test(elements_follow_their_flag),
        cmocka_unit_test(readers_of_a_line_are_served_one_after_the_other),
        cmocka_unit_test(requests_take_what_is_idle_in_whatever_order_they_are_told),
        cmocka_unit_test(the_latest_idle_times_are_remembered),
        cmocka_unit_test(readers_of_a_cache_share_what_one_brought),
        cmocka_unit_test(lines_pass_a_link_in_the_order_in_which_they_are_asked_for),
        cmocka_unit_test(lines_of_eight_flags_of_a_stage_overlap),
        cmocka_unit_test(a_short_message_comes_along_with_its_flag),
        cmocka_unit_test(of_more_ranks_a_shorter_one_does),
        cmocka_unit_test(short_messages_were_taken_back_in_the_call_before),
        cmocka_unit_test(who_waits_has_the_line_that_is_then_raised),
        cmocka_unit_test(who_waits_for_one_of_seven_flags_before_has_the_line_too),
        cmocka_unit_test(lines_of_flags_in_a_row_overlap),
        cmocka_unit_test(chunks_that_overlap_take_less),
        cmocka_unit_test(by_equal_groups_chunks_overlap_and_nothing_is_loaded_to_be_combined),
        cmocka_unit_test(short_results_go_down_level_by_level),
        cmocka_unit_test(short_results_of_two_equal_levels_are_read_at_once),
        cmocka_unit_test(short_shares_of_equal_groups_are_combined_whole_in_unequal_ones),
        cmocka_unit_test(the_third_chunk_waits_until_all_have_begun_the_first),
        cmocka_unit_test(who_waits_for_ever_is_found),
        cmocka_unit_test(shm_goes_by_the_levels_of_the_machine),
        cmocka_unit_test(long_vectors_wait_for_memory),
        cmocka_unit_test(the_bound_is_the_longest_of_five_times),
        cmocka_unit_test(no_prediction_is_below_the_bound),
        cmocka_unit_test(chunks_and_forms_are_those_of_the_executor),
        cmocka_unit_test(many_chunks_take_as_long_each),
        cmocka_unit_test(long_vectors_take_their_work_or_their_lines),
        cmocka_unit_test(only_ranks_that_share_memory_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
