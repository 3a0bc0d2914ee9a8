/* What follows from the times of messages between two ranks: model/pings.h, with made-up times. */
#include "model/pings.h"
#include "unit.h"

#define CALLS_MOST 64
#define FAILURE    17
#define EFFORT     2
#define EAGER_MOST 65536 /* bytes; longer messages are not asked about */

/* A call of one of the functions that measure. */
struct call {
    enum { PLAY, IS_EAGER, TELL } what;
    int bytes, n, loops;
};

/* Two ranks whose messages travel so, as one of them sees them. */
struct ranks {
    struct ar_travel travel;
    const struct ranks *server; /* NULL: this is it */
    bool says;                  /* what it told last */
    int fails_at;               /* the number of the call, from 1 on; 0: none */
    struct call calls[CALLS_MOST];
    int ncalls;
};

static int
note(struct ranks *r, struct call call)
{
    assert_true(r->ncalls < CALLS_MOST);
    r->calls[r->ncalls++] = call;
    return r->ncalls == r->fails_at ? FAILURE : 0;
}

/* Messages follow each other as fast as the sender posts them and the link carries them. */
static double
one_way(const struct ar_travel *t, int bytes, int n)
{
    const double wire = bytes * t->per_byte;
    const double step = wire > t->overhead ? wire : t->overhead;
    const double asks = (size_t)bytes > t->eager_bytes ? t->handshake : 0;
    return t->latency + 2 * t->overhead + wire + (n - 1) * step + asks;
}

static int
play(void *with, double *ns, int bytes, int n, int loops)
{
    struct ranks *const r = with;
    *ns = one_way(&r->travel, bytes, n) + one_way(&r->travel, AR_PING_SHORT, 1);
    return note(r, (struct call){PLAY, bytes, n, loops});
}

static int
is_eager(void *with, bool *is, int bytes)
{
    struct ranks *const r = with;
    const struct ar_travel *const travel = r->server ? &r->server->travel : &r->travel;
    *is = (size_t)bytes <= travel->eager_bytes;
    return note(r, (struct call){IS_EAGER, bytes, 1, 1});
}

static int
tell(void *with, bool *what)
{
    struct ranks *const r = with;
    if (r->server)
        *what = r->server->says;
    r->says = *what;
    return note(r, (struct call){TELL, 1, 1, 1});
}

static int
measure(struct ar_travel *travel, struct ranks *r, bool is_near)
{
    const struct ar_pings pings = {r, play, is_eager, tell, EFFORT, is_near};
    *travel = (struct ar_travel){.eager_bytes = SIZE_MAX};
    return ar_pings_measure(travel, &pings);
}

/* Numbers that doubles hold exactly. */
#define LATENCY   5000
#define OVERHEAD  500
#define PER_BYTE  0.125
#define HANDSHAKE 12000

static struct ranks
ranks_of(size_t eager_bytes)
{
    return (struct ranks){.travel = {.latency = LATENCY,
                                     .overhead = OVERHEAD,
                                     .per_byte = PER_BYTE,
                                     .eager_bytes = eager_bytes,
                                     .handshake = HANDSHAKE}};
}

/* Rows of long messages that were sent. */
static int
count_rows(const struct ranks *r)
{
    int n = 0;
    for (int i = 0; i < r->ncalls; i++)
        n += r->calls[i].bytes == AR_PING_LONG && r->calls[i].n > 1 ? r->calls[i].loops : 0;
    return n;
}

static int
count_calls(const struct ranks *r, int what, int bytes)
{
    int n = 0;
    for (int i = 0; i < r->ncalls; i++)
        n += (int)r->calls[i].what == what && r->calls[i].bytes == bytes;
    return n;
}

/* The bytes of a short message are part of its latency. */
static void
what_a_message_takes_is_found(void **state)
{
    (void)state;
    for (size_t eager = 4096; eager < EAGER_MOST; eager *= 2)
        for (size_t more = 0; more < eager; more += eager / 2 + 1) {
            struct ranks r = ranks_of(eager + more);
            struct ar_travel t;
            assert_int_equal(measure(&t, &r, false), 0);
            assert_true(t.latency == LATENCY + AR_PING_SHORT * PER_BYTE);
            assert_true(t.overhead == OVERHEAD);
            assert_true(t.per_byte == PER_BYTE);
            assert_int_equal(t.eager_bytes, eager);
            assert_true(t.handshake == HANDSHAKE);
            assert_int_equal(count_rows(&r), EFFORT);
        }
}

static void
without_a_handshake_none_is_said(void **state)
{
    (void)state;
    for (int is_near = 0; is_near < 2; is_near++) {
        struct ranks r = ranks_of(is_near ? 4096 : EAGER_MOST);
        struct ar_travel t;
        assert_int_equal(measure(&t, &r, is_near), 0);
        assert_true(t.eager_bytes == SIZE_MAX && t.handshake == 0);
        assert_int_equal(count_calls(&r, IS_EAGER, 4096), !is_near);
    }
}

static void
over_slow_links_no_row_is_sent(void **state)
{
    (void)state;
    for (size_t eager = 4096; eager <= 2 * EAGER_MOST; eager *= 2) {
        const bool is_eager_all = eager >= EAGER_MOST;
        struct ranks r = ranks_of(eager);
        struct ar_travel t;
        r.travel.per_byte = 128;
        assert_int_equal(measure(&t, &r, false), 0);
        assert_true(t.per_byte ==
                    (one_way(&r.travel, AR_PING_LONG, 1) + one_way(&r.travel, AR_PING_SHORT, 1)) /
                        AR_PING_LONG);
        assert_int_equal(count_rows(&r), 0);
        assert_int_equal(t.eager_bytes, is_eager_all ? SIZE_MAX : eager);
    }
}

/* Both ranks make the same calls, whatever the other one's clock says. */
static void
the_other_rank_does_as_the_server(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        struct ranks server = ranks_of(8192), other = ranks_of(65536);
        struct ar_travel t;
        (k % 2 ? &server : &other)->travel.per_byte = 128;
        other.server = &server;
        assert_int_equal(measure(&t, &server, k / 2), 0);
        assert_int_equal(measure(&t, &other, k / 2), 0);
        assert_int_equal(server.ncalls, other.ncalls);
        assert_memory_equal(server.calls, other.calls, sizeof server.calls);
    }
}

static void
an_error_ends_the_measurement(void **state)
{
    struct ranks all = ranks_of(8192);
    struct ar_travel t;
    (void)state;
    assert_int_equal(measure(&t, &all, false), 0);
    for (int i = 1; i <= all.ncalls; i++) {
        struct ranks r = ranks_of(8192);
        r.fails_at = i;
        assert_int_equal(measure(&t, &r, false), FAILURE);
        assert_int_equal(r.ncalls, i);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_message_takes_is_found),
        cmocka_unit_test(without_a_handshake_none_is_said),
        cmocka_unit_test(over_slow_links_no_row_is_sent),
        cmocka_unit_test(the_other_rank_does_as_the_server),
        cmocka_unit_test(an_error_ends_the_measurement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
