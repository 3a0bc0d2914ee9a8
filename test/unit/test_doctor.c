/* What the doctor says of machines that are not at hand, on which ranks are bound in many ways. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "helper/cpu_ticks.h"
#include "helper/doctor.h"
#include "topology.h"
#include "unit.h"

static char root[32];
static char said[8192]; /* "verdict check: text\n" for each finding */

static void
make(const struct topology *t)
{
    snprintf(root, sizeof root, "test_doctor_XXXXXX");
    assert_non_null(mkdtemp(root));
    if (t)
        topology_make(t, root);
}

static struct ar_doctor_check check;
static struct ar_doctor asked;

static void
say(enum ar_severity verdict, const char *text, va_list values)
{
    static const char *const verdicts[] = {"ok", "note", "warning", "wrong"};
    const size_t length = strlen(said);
    snprintf(said + length, sizeof said - length, "%s %s: ", verdicts[verdict], check.name);
    vsnprintf(said + strlen(said), sizeof said - strlen(said), text, values);
    snprintf(said + strlen(said), sizeof said - strlen(said), "\n");
}

/* Both stand for the doctor's own. */
void
ar_find(struct ar_doctor *doctor, enum ar_severity verdict, const char *text, ...)
{
    va_list values;
    assert_ptr_equal(doctor, &asked);
    va_start(values, text);
    say(verdict, text, values);
    va_end(values);
}

void
ar_find_and_advise(struct ar_doctor *doctor, enum ar_severity verdict, const char *advice,
                   const char *text, ...)
{
    va_list values;
    assert_ptr_equal(doctor, &asked);
    assert_true(verdict == AR_SEVERITY_OK || (advice && *advice));
    va_start(values, text);
    say(verdict, text, values);
    va_end(values);
}

/* The doctor's findings by this name, whose files are below root. */
static void
begin(const char *name)
{
    said[0] = '\0';
    check.name = name;
    asked = (struct ar_doctor){.root = root, .check = &check, .speaks = true};
}

static void
expect(const char *text)
{
    if (!strstr(said, text))
        fail_msg("no '%s' in '%s'", text, said);
}

/* --- binding --- */

/* Ranks with these masks, written as Linux does, on the machine below root. */
static void
expect_binding(const char *text, int n, const char *const *masks)
{
    struct ar_seat seats[16];
    static struct ar_node_told node = {.host = "n1"};
    for (int i = 0; i < n; i++) {
        seats[i].rank = i;
        assert_true(ar_cpus_parse(&seats[i].cpus, masks[i]));
    }
    ar_node_tell_binding(&node, root, seats, n);
    begin("binding");
    asked.nodes = &node;
    asked.nnodes = 1;
    ar_examine_binding(&asked);
    expect(text);
}

#define EXPECT_BINDING(text, ...)                                                                  \
    do {                                                                                           \
        static const char *const masks[] = {__VA_ARGS__};                                          \
        expect_binding(text, sizeof masks / sizeof masks[0], masks);                               \
    } while (0)

/* CPUs 0 to 15 and their second threads 16 to 31; two cores share a cache, eight a socket. */
static const struct topology threaded = {
    .sockets = 2, .nodes = 1, .caches = 4, .cores = 2, .threads = 2};

static void
bound_ranks_are_told_with_what_they_share(void **state)
{
    (void)state;
    make(&threaded);
    EXPECT_BINDING(
        "ok binding: n1: ranks 0-3 are bound to one core each, on 2 sockets, 3 L3 caches\n",
        "00010001", "00020002", "00000010", "01000000");
    EXPECT_BINDING("ok binding: n1: rank 0 is bound to one core, on 1 socket\n", "2");
    EXPECT_BINDING("ok binding: n1: ranks 0-2 are bound to 2 CPUs within one L3 cache each, on 1 "
                   "socket, 3 L3 caches\n",
                   "3", "c", "30");
    EXPECT_BINDING("ok binding: n1: ranks 0,1 are bound to 16 CPUs within one NUMA node each, on 2 "
                   "sockets\n",
                   "00ff00ff", "ff00ff00");
    EXPECT_BINDING(
        "ok binding: n1: ranks 0,1 are bound to 1 to 7 CPUs within one NUMA node each, on "
        "1 socket\n",
        "1", "fe");
    EXPECT_BINDING("ok binding: n1: ranks 0,1 are bound to 2 CPUs each\n", "0101", "0202");
    topology_remove(root);
}

static void
ranks_that_are_not_bound_are_grouped_by_node_only(void **state)
{
    const struct topology one = {.sockets = 1, .nodes = 1, .caches = 1, .cores = 4, .threads = 1};
    (void)state;
    make(&threaded);
    EXPECT_BINDING("note binding: n1: ranks 0-2 are not bound, and may move among 32 CPUs of 2 "
                   "sockets, 8 L3 caches: grouped by node only\n",
                   "ffffffff", "ffffffff", "ffffffff");
    EXPECT_BINDING("note binding: n1: ranks 0,1 are not bound, and may move among 8 CPUs of 1 "
                   "socket, 4 L3 caches: not grouped within it\n",
                   "ff", "ff");
    EXPECT_BINDING("ok binding: n1: rank 0 is not bound, and may move among 32 CPUs", "ffffffff");
    topology_remove(root);
    make(&one);
    EXPECT_BINDING("note binding: n1: ranks 0,1 are not bound, and may move among 4 CPUs of 1 "
                   "socket\n",
                   "f", "f");
    topology_remove(root);
    EXPECT_BINDING("note binding: n1: ranks 0,1 are not bound, and may move among 4 CPUs\n", "f",
                   "f");
}

static void
ranks_that_share_a_core_are_named(void **state)
{
    (void)state;
    make(&threaded);
    EXPECT_BINDING("warning binding: n1: ranks 0,2 are all bound to CPU 4\n", "10", "1", "10");
    EXPECT_BINDING("warning binding: n1: ranks 1-3 are all bound to CPUs 0,1\n", "ff00", "3", "3",
                   "1");
    EXPECT_BINDING("warning binding: n1: 3 ranks share CPUs 0,16\n", "00010001", "00010001",
                   "00010001");
    EXPECT_BINDING("warning binding: n1: ranks 0,2 are bound to hardware threads of one core, CPUs "
                   "0,16\n",
                   "1", "2", "00010000");
    EXPECT_BINDING("CPUs 0,16; the same is true of 2 other cores\n", "1", "00010000", "2",
                   "00020000", "4", "00040000");
    topology_remove(root);
    const struct topology small = {.sockets = 1, .nodes = 1, .caches = 1, .cores = 1, .threads = 2};
    make(&small);
    EXPECT_BINDING(
        "note binding: n1: ranks 0,1 are bound to hardware threads of one core, CPUs 0,1\n", "1",
        "2");
    topology_remove(root);
}

/* --- limits of CPU time --- */

static void
expect_quota(const char *text, const struct ar_seat *seats, int n)
{
    static struct ar_node_told node = {.host = "n1"};
    ar_node_tell_quota(&node, seats, n);
    begin("quota");
    asked.nodes = &node;
    asked.nnodes = 1;
    ar_examine_quota(&asked);
    assert_string_equal(said, text);
}

static void
the_limit_is_told_that_is_exceeded_most(void **state)
{
    struct ar_seat seats[4];
    (void)state;
    for (int i = 0; i < 4; i++) {
        seats[i] = (struct ar_seat){.rank = i, .quotas = {.of = {{7, 2}}, .n = 1}};
        assert_true(ar_cpus_parse(&seats[i].cpus, "f"));
    }
    expect_quota("note quota: n1: a cgroup limits 2 ranks to the time of 2 of 4 CPUs\n", seats, 2);
    expect_quota("warning quota: n1: a cgroup limits 4 ranks to the time of 2 of 4 CPUs\n", seats,
                 4);
    seats[0].quotas = seats[1].quotas = (struct ar_cpu_quotas){.of = {{8, 1}, {7, 2}}, .n = 2};
    expect_quota("warning quota: n1: a cgroup limits 4 ranks to the time of 2 of 4 CPUs\n", seats,
                 4);
    expect_quota("warning quota: n1: a cgroup limits 2 ranks to the time of 1 of 4 CPUs\n", seats,
                 2);
    for (int i = 0; i < 4; i++)
        seats[i].quotas = (struct ar_cpu_quotas){.of = {{7, 4}}, .n = 1};
    expect_quota("", seats, 4);
}

/* Two CPUs for 10 s, in ticks of 10 ms: three quarters of one worked, and all of the other but for
 * interrupts.  Four ranks on them took 1.25 CPUs, and kept nobody waiting but each other. */
static void
others_are_what_the_ranks_did_not_do(void **state)
{
    static struct ar_cpu_ticks from[AR_CPUS_MAX], to[AR_CPUS_MAX];
    (void)state;
    from[1] = (struct ar_cpu_ticks){.work = 7000, .interrupts = 10, .idle = 90000};
    to[1] = (struct ar_cpu_ticks){.work = 7750, .interrupts = 10, .idle = 90250};
    from[3] = (struct ar_cpu_ticks){.work = 5, .interrupts = 3, .idle = 2};
    to[3] = (struct ar_cpu_ticks){.work = 905, .interrupts = 103, .idle = 2};
    assert_float_equal(ar_cpu_ticks_others(from, to, 0, 10), 1.65, 1e-9);
    assert_float_equal(ar_cpu_ticks_others(from, to, 12.5, 10), 0.4, 1e-9);
    assert_float_equal(ar_cpu_ticks_others(from, to, 16.5, 10), 0, 1e-9);
    assert_float_equal(ar_cpu_ticks_others(from, from, 0, 10), 0, 1e-9);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bound_ranks_are_told_with_what_they_share),
        cmocka_unit_test(ranks_that_are_not_bound_are_grouped_by_node_only),
        cmocka_unit_test(ranks_that_share_a_core_are_named),
        cmocka_unit_test(the_limit_is_told_that_is_exceeded_most),
        cmocka_unit_test(others_are_what_the_ranks_did_not_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
