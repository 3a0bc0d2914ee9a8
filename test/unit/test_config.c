/* The environment's settings: what they mean, how a bad one is told, and that
 * another rank rebuilds the same decisions from the text. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"
#include "config/files.h"
#include "config/rank.h"
#include "config/variables.h"
#include "unit.h"

#ifndef MANUAL /* the build says where it is */
#define MANUAL "doc/allreduce.7"
#endif

static char rules_path[] = "/tmp/ar_test_config_XXXXXX";

static int
empty_environment(void **state)
{
    (void)state;
    for (int i = 0; i < AR_VARIABLES; i++)
        unsetenv(ar_variables[i].name);
    return 0;
}

static void
set(const char *name, const char *value)
{
    assert_int_equal(setenv(name, value, 1), 0);
}

static void
write_rules_file(const char *text, size_t length)
{
    FILE *file = fopen(rules_path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    set("ALLREDUCE_RULES", rules_path);
}

static struct ar_config *
good_config(void)
{
    struct ar_config *config = ar_config_from_environment(0);
    assert_non_null(config);
    assert_string_equal(config->problem, "");
    assert_int_equal(config->error, AR_OK);
    assert_false(config->broken);
    return config;
}

struct decision {
    char choice[AR_CHOICE_TEXT];
    const char *reason;
};

static struct decision
decide(const struct ar_config *config, size_t bytes, int nranks, bool commutative)
{
    struct decision decision = {"", NULL};
    const struct ar_request request = {
        .bytes = bytes, .nranks = nranks, .commutative = commutative};
    struct ar_choice choice;
    assert_int_equal(ar_config_select(config, &choice, &request, &decision.reason), AR_OK);
    assert_true(choice.kind != AR_CHOICE_AUTO);
    ar_choice_print(&choice, decision.choice, sizeof decision.choice);
    return decision;
}

/* Decision of the environment as it is; bytes on 4 ranks. */
static void
assert_decides(size_t bytes, bool commutative, const char *choice, const char *reason)
{
    struct ar_config *config = good_config();
    const struct decision decision = decide(config, bytes, 4, commutative);
    assert_string_equal(decision.choice, choice);
    assert_ptr_equal(decision.reason, reason);
    ar_config_destroy(config);
}

/* The environment as it is is refused with these words. */
static void
assert_refused(const char *words)
{
    struct ar_config *config = ar_config_from_environment(0);
    assert_non_null(config);
    assert_int_equal(config->error, AR_ERR_SYNTAX);
    assert_true(config->broken);
    if (!strstr(config->problem, words))
        fail_msg("\"%s\" lacks \"%s\"", config->problem, words);
    assert_null(strchr(config->problem, '\n'));
    ar_config_destroy(config);
}

static void
assert_setting_refused(const char *name, const char *value, const char *words)
{
    set(name, value);
    assert_refused(words);
    unsetenv(name);
}

/* May a call of 8 bytes on 4 ranks with this op be cut? */
static bool
may_cut(enum ar_op op)
{
    struct ar_config *config = good_config();
    const struct ar_request request = {.bytes = 8, .nranks = 4, .commutative = true, .op = op};
    struct ar_config *copy = ar_config_from_text(config->text);
    const bool may = ar_config_may_cut(config, &request);
    assert_int_equal(ar_config_may_cut(copy, &request), may); /* alike on all ranks */
    ar_config_destroy(copy);
    ar_config_destroy(config);
    return may;
}

static void
ops_of_the_program_are_cut_only_where_somebody_says_so(void **state)
{
    (void)state;
    assert_true(may_cut(AR_SUM));
    assert_false(may_cut(AR_OPS));
    set("ALLREDUCE_ALGO", "ring");
    assert_false(may_cut(AR_OPS));
    set("ALLREDUCE_ALGO", "ring:op=sum|user");
    assert_true(may_cut(AR_OPS));
    set("ALLREDUCE_ALGO", "ring:op=sum;ring");
    assert_false(may_cut(AR_OPS));
    set("ALLREDUCE_USER_OPS", "cut");
    assert_true(may_cut(AR_OPS));
    set("ALLREDUCE_USER_OPS", "whole");
    assert_false(may_cut(AR_OPS));
    assert_setting_refused("ALLREDUCE_USER_OPS", "part", "column 1: 'part'; allowed: whole|cut");
}

static void
nothing_set_gives_the_defaults(void **state)
{
    (void)state;
    struct ar_config *config = good_config();
    assert_int_equal(config->wait, AR_WAIT_AUTO);
    assert_int_equal(config->scratch_bytes, 64 << 20);
    assert_int_equal(config->verbose, 0);
    assert_true(config->strict);
    assert_string_equal(config->text, "");
    assert_ptr_equal(decide(config, 8, 4, true).reason, ar_reason_auto);
    ar_config_destroy(config);
}

static void
blank_values_are_as_unset(void **state)
{
    (void)state;
    for (int i = 0; i < AR_VARIABLES; i++)
        set(ar_variables[i].name, i % 2 ? "" : "  ");
    struct ar_config *config = good_config();
    assert_string_equal(config->text, "");
    assert_true(config->strict);
    ar_config_destroy(config);
}

static void
every_setting_is_read(void **state)
{
    (void)state;
    set("ALLREDUCE_WAIT", " Spin ");
    set("ALLREDUCE_SCRATCH", "1G");
    set("ALLREDUCE_VERBOSE", "2");
    set("ALLREDUCE_STRICT", "0");
    struct ar_config *config = good_config();
    assert_int_equal(config->wait, AR_WAIT_SPIN);
    assert_int_equal(config->scratch_bytes, 1 << 30);
    assert_int_equal(config->verbose, 2);
    assert_false(config->strict);
    ar_config_destroy(config);

    set("ALLREDUCE_WAIT", "yield");
    set("ALLREDUCE_SCRATCH", "64K");
    config = good_config();
    assert_int_equal(config->wait, AR_WAIT_YIELD);
    assert_int_equal(config->scratch_bytes, AR_SCRATCH_MINIMUM);
    ar_config_destroy(config);
}

static void
assert_verifies(const char *value, unsigned every, enum ar_verify_action action)
{
    set("ALLREDUCE_VERIFY", value);
    struct ar_config *config = good_config(), *other = ar_config_from_text(config->text);
    assert_int_equal(config->verify.every, every);
    assert_int_equal(config->verify.action, action);
    assert_string_equal(other->text, config->text);
    assert_int_equal(other->verify.every, every);
    ar_config_destroy(config);
    ar_config_destroy(other);
}

static void
calls_are_verified_as_asked(void **state)
{
    (void)state;
    assert_verifies("0", 0, AR_VERIFY_ABORT);
    assert_verifies("1", 1, AR_VERIFY_ABORT);
    assert_verifies(" 1 / 100 , Warn ", 100, AR_VERIFY_WARN);
    assert_verifies("1,native", 1, AR_VERIFY_NATIVE);
}

static void
assert_times_out(const char *value, unsigned ms, enum ar_timeout_action action)
{
    set("ALLREDUCE_TIMEOUT", value);
    struct ar_config *config = good_config();
    assert_int_equal(config->timeout.ms, ms);
    assert_int_equal(config->timeout.action, action);
    ar_config_destroy(config);
}

static void
a_timeout_is_seconds_and_an_action(void **state)
{
    (void)state;
    assert_times_out("", 0, AR_TIMEOUT_WARN);
    assert_times_out("0", 0, AR_TIMEOUT_WARN);
    assert_times_out("0.000,abort", 0, AR_TIMEOUT_ABORT);
    assert_times_out("0.1", 100, AR_TIMEOUT_WARN);
    assert_times_out("2.05", 2050, AR_TIMEOUT_WARN);
    assert_times_out("0.5s,warn", 500, AR_TIMEOUT_WARN);
    assert_times_out("5m", 300000, AR_TIMEOUT_WARN);
    assert_times_out("1.5h,abort", 5400000, AR_TIMEOUT_ABORT);
    assert_times_out(" 30 , Abort ", 30000, AR_TIMEOUT_ABORT);
    assert_times_out("1000000,warn", 1000000000, AR_TIMEOUT_WARN);
}

static void
a_timeout_is_each_ranks_own_affair(void **state)
{
    (void)state;
    struct ar_config *plain = good_config();
    set("ALLREDUCE_TIMEOUT", "60,abort");
    struct ar_config *config = good_config();
    assert_string_equal(config->text, plain->text);
    ar_config_destroy(config);
    ar_config_destroy(plain);
}

/* Rank 0's setting counts, since all ranks gather what they noted. */
static void
a_trace_is_a_file_calls_and_memory(void **state)
{
    (void)state;
    set("ALLREDUCE_TRACE", "/tmp/a.json, memory=1M,calls=3-7");
    struct ar_config *config = good_config();
    assert_string_equal(config->trace.file, "/tmp/a.json");
    assert_int_equal(config->trace.first, 3);
    assert_int_equal(config->trace.last, 7);
    assert_int_equal(config->trace.memory_bytes, 1 << 20);
    struct ar_config *copy = ar_config_from_text(config->text);
    assert_string_equal(copy->trace.file, config->trace.file);
    assert_int_equal(copy->trace.first, 3);
    assert_int_equal(copy->trace.last, 7);
    assert_int_equal(copy->trace.memory_bytes, 1 << 20);
    ar_config_destroy(copy);
    ar_config_destroy(config);
}

static void
algo_comes_before_rules_before_auto(void **state)
{
    (void)state;
    const char text[] = "ring:0-64 # shadowed where ALGO speaks\r\nbutterfly(window=3):65-128\n";
    set("ALLREDUCE_ALGO", "butterfly(window=2):0-32");
    write_rules_file(text, strlen(text));
    assert_decides(32, true, "butterfly(window=2)", ar_reason_named);
    assert_decides(33, true, "ring", ar_reason_rule);
    assert_decides(128, true, "butterfly(window=3)", ar_reason_rule);
    set("ALLREDUCE_ALGO_LIST", "ring");
    assert_decides(128, true, "butterfly(window=3)", ar_reason_rule);
    struct ar_config *config = good_config();
    const struct decision decision = decide(config, 129, 4, true);
    assert_int_equal(strncmp(decision.choice, "ring", 4), 0);
    assert_ptr_equal(decision.reason, ar_reason_auto);
    ar_config_destroy(config);
}

static void
auto_and_native_may_be_named(void **state)
{
    (void)state;
    const char text[] = "ring\n";
    write_rules_file(text, strlen(text));
    set("ALLREDUCE_ALGO", "native:0-32;auto:33-64");
    set("ALLREDUCE_ALGO_LIST", "butterfly");
    assert_decides(32, true, "native", ar_reason_named);
    assert_decides(64, true, "butterfly", ar_reason_auto);
    assert_decides(65, true, "ring", ar_reason_rule);
}

static void
an_op_that_does_not_commute_needs_rank_order(void **state)
{
    (void)state;
    set("ALLREDUCE_ALGO", "ring:0-32;butterfly:33-64;native:65-128");
    set("ALLREDUCE_ALGO_LIST", "ring");
    assert_decides(32, true, "ring", ar_reason_named);
    assert_decides(32, false, "native", ar_reason_no_commute);
    assert_decides(64, false, "butterfly", ar_reason_named);
    assert_decides(128, false, "native", ar_reason_named);
    assert_decides(129, false, "native", ar_reason_no_commute);
    unsetenv("ALLREDUCE_ALGO_LIST");
    struct ar_config *config = good_config();
    assert_ptr_equal(decide(config, 129, 4, false).reason, ar_reason_auto);
    ar_config_destroy(config);
}

static void
a_parameter_may_leave_rank_order(void **state)
{
    (void)state;
    set("ALLREDUCE_ALGO", "recursive:0-32;recursive(distance=halving)");
    assert_decides(32, false, "recursive", ar_reason_named);
    assert_decides(33, true, "recursive(distance=halving)", ar_reason_named);
    assert_decides(33, false, "native", ar_reason_no_commute);
}

static void
intel_stands_for_the_variable_of_intel_mpi(void **state)
{
    (void)state;
    set("I_MPI_ADJUST_ALLREDUCE", "8:0-4096;2");
    set("ALLREDUCE_ALGO", " intel ");
    assert_decides(4096, true, "ring", ar_reason_named);
    assert_decides(4097, true, "rhd", ar_reason_named);
    set("ALLREDUCE_ALGO", "butterfly");
    assert_decides(4096, true, "butterfly", ar_reason_named);
    set("I_MPI_ADJUST_ALLREDUCE", "8;13");
    assert_setting_refused(
        "ALLREDUCE_ALGO", "intel",
        "ALLREDUCE_ALGO: I_MPI_ADJUST_ALLREDUCE: column 3: unknown Intel id '13'");
    unsetenv("I_MPI_ADJUST_ALLREDUCE");
    assert_setting_refused("ALLREDUCE_ALGO", "intel",
                           "ALLREDUCE_ALGO: intel: I_MPI_ADJUST_ALLREDUCE is not set");
}

/* Whether auto may choose the algorithm, by the environment. */
static bool
is_allowed(const char *name)
{
    struct ar_config *const config = good_config();
    bool allowed = false;
    for (size_t i = 0; i < ar_algorithm_count(); i++)
        allowed |= strcmp(ar_algorithm_at(i)->name, name) == 0 && config->allowed[i];
    ar_config_destroy(config);
    return allowed;
}

static void
the_list_of_intel_mpi_counts_only_with_the_word_intel(void **state)
{
    (void)state;
    set("I_MPI_ADJUST_ALLREDUCE_LIST", "1-2,8");
    assert_true(is_allowed("star"));
    set("ALLREDUCE_ALGO", "auto");
    assert_true(is_allowed("star"));
    set("ALLREDUCE_ALGO", "intel");
    assert_true(is_allowed("ring") && is_allowed("rhd") && !is_allowed("star"));
    set("ALLREDUCE_ALGO_LIST", "star");
    assert_true(is_allowed("star") && !is_allowed("ring"));
    unsetenv("ALLREDUCE_ALGO_LIST");
    set("I_MPI_ADJUST_ALLREDUCE_LIST", "1,13");
    assert_setting_refused("ALLREDUCE_ALGO", "intel",
                           "ALLREDUCE_ALGO_LIST: I_MPI_ADJUST_ALLREDUCE_LIST: column 3");
    unsetenv("I_MPI_ADJUST_ALLREDUCE_LIST");
}

static void
bad_values_are_refused_by_name_and_column(void **state)
{
    (void)state;
    assert_setting_refused("ALLREDUCE_ALGO", "ring;rign",
                           "ALLREDUCE_ALGO: column 6: unknown algorithm 'rign' (did you mean "
                           "'ring'?); see allreduce list");
    assert_setting_refused("ALLREDUCE_ALGO", "my.rules",
                           "ALLREDUCE_ALGO: column 1: unknown algorithm 'my.rules'; see allreduce "
                           "list; a file of rules is named by ALLREDUCE_RULES");
    assert_setting_refused("ALLREDUCE_ALGO", "/etc/rules",
                           "found '/'; a file of rules is named by ALLREDUCE_RULES");
    assert_setting_refused("ALLREDUCE_ALGO_LIST", "ring, rign",
                           "ALLREDUCE_ALGO_LIST: column 7: unknown algorithm 'rign'");
    assert_setting_refused("ALLREDUCE_WAIT", " spn",
                           "ALLREDUCE_WAIT: column 2: 'spn' (did you mean 'spin'?); allowed: "
                           "auto|spin|yield");
    assert_setting_refused("ALLREDUCE_STRICT", "yes", "ALLREDUCE_STRICT: column 1: 'yes'");
    assert_setting_refused("ALLREDUCE_STRICT", "2", "allowed: 0|1");
    assert_setting_refused("ALLREDUCE_VERBOSE", "3", "ALLREDUCE_VERBOSE: column 1: '3'");
    assert_setting_refused("ALLREDUCE_VERIFY", "2",
                           "ALLREDUCE_VERIFY: column 1: '2'; allowed: 0, 1");
    assert_setting_refused("ALLREDUCE_VERIFY", "1/ x", "ALLREDUCE_VERIFY: column 4: 'x'; allowed:");
    assert_setting_refused("ALLREDUCE_VERIFY", "1,", "ALLREDUCE_VERIFY: column 3: ''; allowed:");
    assert_setting_refused("ALLREDUCE_VERIFY", "0/2", "ALLREDUCE_VERIFY: column 2: '/2'");
    assert_setting_refused("ALLREDUCE_TRACE", ",calls=1", "ALLREDUCE_TRACE: column 1: ''");
    assert_setting_refused("ALLREDUCE_TRACE", "/nowhere/x", "ALLREDUCE_TRACE: column 1: ");
    assert_setting_refused("ALLREDUCE_TRACE", "/tmp/a,calls=0", "column 8: 'calls=0'; allowed:");
    assert_setting_refused("ALLREDUCE_TRACE", "/tmp/a,calls=4-3", "column 8: 'calls=4-3'");
    assert_setting_refused("ALLREDUCE_TRACE", "/tmp/a,calls=1-2,", "column 18: ''; allowed:");
    assert_setting_refused("ALLREDUCE_TRACE", "/tmp/a,memory=63K", "column 8: 'memory=63K'");
    assert_setting_refused("ALLREDUCE_TRACE", "/tmp/a,memory=2G", "column 8: 'memory=2G'");
    assert_setting_refused("ALLREDUCE_TRACE", "/tmp/a,ranks=1", "column 8: 'ranks=1'");
    assert_setting_refused("ALLREDUCE_TIMEOUT", " soon",
                           "ALLREDUCE_TIMEOUT: column 2: 'soon'; allowed: 0, or a time from 0.1");
    assert_setting_refused("ALLREDUCE_TIMEOUT", "0.09", "ALLREDUCE_TIMEOUT: column 1: '0.09'");
    assert_setting_refused("ALLREDUCE_TIMEOUT", "0.0001", "ALLREDUCE_TIMEOUT: column 1: '0.0001'");
    assert_setting_refused("ALLREDUCE_TIMEOUT", "1.", "ALLREDUCE_TIMEOUT: column 1: '1.'");
    assert_setting_refused("ALLREDUCE_TIMEOUT", "0.001m", "ALLREDUCE_TIMEOUT: column 1: '0.001m'");
    assert_setting_refused("ALLREDUCE_TIMEOUT", "300h", "ALLREDUCE_TIMEOUT: column 1: '300h'");
    assert_setting_refused("ALLREDUCE_TIMEOUT", "s", "ALLREDUCE_TIMEOUT: column 1: 's'");
    assert_setting_refused("ALLREDUCE_TIMEOUT", ".5", "ALLREDUCE_TIMEOUT: column 1: '.5'");
    assert_setting_refused("ALLREDUCE_TIMEOUT", "-1", "ALLREDUCE_TIMEOUT: column 1: '-1'");
    assert_setting_refused("ALLREDUCE_TIMEOUT", "1000000.001", "column 1: '1000000.001'");
    assert_setting_refused("ALLREDUCE_TIMEOUT", "1,", "ALLREDUCE_TIMEOUT: column 3: ''; allowed:");
    assert_setting_refused("ALLREDUCE_TIMEOUT", "1, native",
                           "ALLREDUCE_TIMEOUT: column 4: 'native'; allowed: after the comma: warn");
    assert_setting_refused("ALLREDUCE_SCRATCH", "63K",
                           "ALLREDUCE_SCRATCH: column 1: '63K'; allowed: 64K or more");
    assert_setting_refused("ALLREDUCE_SCRATCH", "64M!", "column 1: '64M!'");
    assert_setting_refused("ALLREDUCE_SCRATCH", "99999999999999999999", "ALLREDUCE_SCRATCH");
}

/* With this level, such a value of another variable is refused, in these words. */
static void
assert_breaks(const char *level, const char *name, const char *value, const char *words)
{
    set("ALLREDUCE_DETERMINISM", level);
    assert_setting_refused(name, value, words);
}

static void
what_breaks_the_promise_is_refused(void **state)
{
    (void)state;
    static const char algo[] = "ALLREDUCE_ALGO", list[] = "ALLREDUCE_ALGO_LIST";
    const char text[] = "butterfly\nnative:1M-inf\n";
    assert_setting_refused("ALLREDUCE_DETERMINISM", "sizes",
                           "ALLREDUCE_DETERMINISM: column 1: 'sizes' (did you mean 'size'?)");
    assert_breaks("run", algo, "native", "ALLREDUCE_ALGO: column 1: native guarantees nothing");
    assert_breaks("order", algo, "ring;0", "ALLREDUCE_ALGO: column 6: native guarantees nothing");
    assert_breaks("placement", algo, "butterfly:0-64K;hier_ring",
                  "column 17: hier_ring guarantees only level 'run'; ALLREDUCE_DETERMINISM="
                  "placement needs more; allowed: auto, star, ");
    assert_breaks("size", algo, "ring", "ring guarantees only level 'placement'");
    assert_breaks("size", algo, "knomial:0-64K;rhd",
                  "column 15: knomial and rhd combine in different orders");
    assert_breaks("size", algo, "knomial:0-64K", "knomial and butterfly combine in different");
    assert_breaks("size", algo, "knomial:0-64K;knomial(radix=2)",
                  "column 15: knomial(radix=4) and knomial(radix=2) combine in different");
    assert_breaks("size", algo, "butterfly:0-64K;butterfly(unpaired=copy)",
                  "column 17: butterfly and butterfly(unpaired=copy) combine in different");
    assert_breaks("size", algo, "rhd:0-64K;butterfly(unpaired=copy)",
                  "column 11: rhd and butterfly combine in different");
    assert_breaks("placement", algo, "ring:nodes=1;rhd", "column 14: ring and rhd combine in");
    assert_breaks("placement", algo, "ring(segment=64K):nodes=1;ring",
                  "column 27: ring(segment=64K) and ring combine in");
    assert_breaks("placement", algo, "ring(segment=64K):nodes=1;ring(segment=64K,window=2)",
                  "ring(segment=64K) and ring(segment=64K,window=2) combine in");
    assert_breaks("size", list, "ring,hier_ring",
                  "ALLREDUCE_ALGO_LIST: none of these algorithms guarantees");
    write_rules_file(text, strlen(text));
    assert_refused("ALLREDUCE_RULES: line 2, column 1: native guarantees nothing");
}

static void
assert_kept(const char *level, const char *clauses)
{
    set("ALLREDUCE_DETERMINISM", level);
    set("ALLREDUCE_ALGO", clauses);
    struct ar_config *config = good_config(), *other = ar_config_from_text(config->text);
    assert_string_equal(other->text, config->text);
    assert_int_equal(other->determinism, config->determinism);
    ar_config_destroy(config);
    ar_config_destroy(other);
}

static void
what_keeps_the_promise_is_taken(void **state)
{
    (void)state;
    assert_kept("run", "torus2d:0-1K;ring");
    assert_kept("placement", "ring:1M-inf");
    assert_kept("placement", "butterfly:nodes=1;rhd");
    assert_kept("placement", "ring(segment=64K):nodes=1;ring(segment=64K)");
    assert_kept("placement", "knomial(segment=64K):nodes=1;knomial");
    assert_kept("size", "knomial");
    assert_kept("size", "dual_root(segment=4K):0-64K;dual_root(segment=64K)");
    assert_kept("size", "star:0-4K;gather_scatter(root=2):4K-64K;circle");
    assert_kept("size", "butterfly:0-4K;auto");
    assert_kept("order", "ring:0-4K;torus2d");
}

static void
the_program_must_keep_the_promise_too(void **state)
{
    (void)state;
    set("ALLREDUCE_DETERMINISM", "size");
    set("ALLREDUCE_STRICT", "0");
    struct ar_config *base = good_config();
    struct ar_config *config = ar_config_with_program(base, "ring");
    assert_int_equal(config->error, AR_ERR_SYNTAX);
    assert_non_null(strstr(config->problem, "the program's choice: column 1: ring guarantees"));
    ar_config_destroy(config);
    ar_config_destroy(base);
}

static const char *
decided_under(const char *level, size_t bytes, enum ar_op op, enum ar_type_class type,
              const char **reason)
{
    struct ar_choice choice;
    set("ALLREDUCE_DETERMINISM", level);
    struct ar_config *config = good_config();
    const struct ar_request request = {
        .bytes = bytes,
        .nranks = 4,
        .commutative = op != AR_OPS,
        .shares_memory = true,
        .keeps = ar_determinism_of_call(config->determinism, op, type, 8),
    };
    assert_int_equal(ar_config_select(config, &choice, &request, reason), AR_OK);
    ar_config_destroy(config);
    return choice.kind == AR_CHOICE_ALGORITHM ? choice.algorithm->name : "native";
}

static void
sums_are_exact_but_of_long_doubles(void **state)
{
    (void)state;
    assert_int_equal(ar_rounding_of(AR_SUM, AR_TYPE_FLOAT, 4), AR_ROUNDS_SUM);
    assert_int_equal(ar_rounding_of(AR_SUM, AR_TYPE_DOUBLE, 8), AR_ROUNDS_SUM);
    assert_int_equal(ar_rounding_of(AR_SUM, AR_TYPE_COMPLEX, 8), AR_ROUNDS_SUM);
    assert_int_equal(ar_rounding_of(AR_SUM, AR_TYPE_COMPLEX, 16), AR_ROUNDS_SUM);
    assert_int_equal(ar_rounding_of(AR_PROD, AR_TYPE_COMPLEX, 16), AR_ROUNDS);
    assert_int_equal(ar_rounding_of(AR_SUM, AR_TYPE_COMPLEX, 32), AR_ROUNDS);
    assert_int_equal(ar_rounding_of(AR_SUM, AR_TYPE_LONG_DOUBLE, 16), AR_ROUNDS);
}

static void
rounded_calls_alone_are_restricted(void **state)
{
    (void)state;
    const char *why;
    assert_string_equal(decided_under("run", 8, AR_SUM, AR_TYPE_DOUBLE, &why), "shm");
    assert_string_equal(decided_under("placement", 8, AR_SUM, AR_TYPE_DOUBLE, &why), "butterfly");
    assert_string_equal(decided_under("size", 1 << 20, AR_SUM, AR_TYPE_FLOAT, &why), "rhd");
    assert_string_equal(decided_under("size", 1 << 20, AR_OPS, AR_TYPE_OTHER, &why), "rhd");
    assert_string_equal(decided_under("size", 8, AR_SUM, AR_TYPE_INTEGER, &why), "shm");
    assert_string_equal(decided_under("order", 8, AR_BOR, AR_TYPE_BYTE, &why), "shm");
    assert_ptr_equal(why, ar_reason_auto);
    set("ALLREDUCE_ALGO", "ring");
    assert_string_equal(decided_under("order", 8, AR_PROD, AR_TYPE_DOUBLE, &why), "butterfly");
    assert_ptr_equal(why, ar_reason_determinism);
    assert_string_equal(decided_under("order", 8, AR_SUM, AR_TYPE_INTEGER, &why), "ring");
    assert_string_equal(decided_under("placement", 8, AR_OPS, AR_TYPE_OTHER, &why), "butterfly");
    assert_ptr_equal(why, ar_reason_determinism);
    set("ALLREDUCE_ALGO_LIST", "ring");
    unsetenv("ALLREDUCE_ALGO");
    assert_string_equal(decided_under("placement", 8, AR_OPS, AR_TYPE_OTHER, &why), "butterfly");
    assert_ptr_equal(why, ar_reason_determinism);
}

static void
the_first_of_several_problems_is_told(void **state)
{
    (void)state;
    set("ALLREDUCE_WAIT", "spn");
    set("ALLREDUCE_ALGO", "rign");
    assert_refused("ALLREDUCE_ALGO: column 1");
    set("ALLREDUCE_ALGOS", "ring");
    assert_refused("unknown variable 'ALLREDUCE_ALGOS'");
    unsetenv("ALLREDUCE_ALGOS");
}

static void
misspelt_variables_are_refused(void **state)
{
    (void)state;
    assert_setting_refused("ALLREDUCE_ALGOS", "ring",
                           "unknown variable 'ALLREDUCE_ALGOS' (did you mean 'ALLREDUCE_ALGO'?); "
                           "allowed: ALLREDUCE_ALGO, ");
    assert_setting_refused("ALLREDUCE_ALGORITHM", "ring",
                           "unknown variable 'ALLREDUCE_ALGORITHM' (did you mean "
                           "'ALLREDUCE_ALGO'?)");
    assert_setting_refused("ALLREDUCE_SCARTCH", "", "did you mean 'ALLREDUCE_SCRATCH'?");
    set("ALLREDUCER", "theirs");
    ar_config_destroy(good_config());
    unsetenv("ALLREDUCER");
}

/* A site may have variables of its own; what is misspelt is an error beside them. */
static void
variables_that_are_near_none_are_named_and_change_nothing(void **state)
{
    (void)state;
    set("ALLREDUCE_xyzzyx", "");
    set("ALLREDUCE_SITE_HOME", "/opt");
    struct ar_config *config = good_config();
    assert_non_null(strstr(config->strange, "ALLREDUCE_xyzzyx"));
    assert_non_null(strstr(config->strange, "ALLREDUCE_SITE_HOME"));
    assert_non_null(strchr(config->strange, ','));
    assert_string_equal(config->text, "");
    ar_config_destroy(config);
    assert_setting_refused("ALLREDUCE_ALGOS", "ring", "unknown variable 'ALLREDUCE_ALGOS'");
    unsetenv("ALLREDUCE_xyzzyx");
    unsetenv("ALLREDUCE_SITE_HOME");
    config = good_config();
    assert_string_equal(config->strange, "");
    ar_config_destroy(config);
}

static void
a_byte_order_mark_is_no_part_of_a_file(void **state)
{
    (void)state;
    write_rules_file("\xEF\xBB\xBFring\r\n", 9);
    assert_decides(8, true, "ring", ar_reason_rule);
    write_rules_file("\xEF\xBB\xBF\xEF\xBB\xBFring", 10);
    assert_refused("1:1: ");
    write_rules_file("\xEF\xBB", 2);
    assert_refused("1:1: ");
}

static void
a_bad_rules_file_is_refused_with_its_place(void **state)
{
    (void)state;
    char expected[128];
    write_rules_file("ring:8\n\n  rign\n", 15);
    snprintf(expected, sizeof expected, "ALLREDUCE_RULES: %s:3:3: unknown algorithm 'rign'",
             rules_path);
    assert_refused(expected);
    write_rules_file("ring\0:8", 7);
    assert_refused(": not a text file: it contains a zero byte");
    assert_setting_refused("ALLREDUCE_MODEL", "/nonexistent",
                           "ALLREDUCE_MODEL: /nonexistent: No such file or directory");
    assert_setting_refused("ALLREDUCE_MODEL", "a\nb", "ALLREDUCE_MODEL: column 2: a newline");
    assert_setting_refused("ALLREDUCE_RULES", "/tmp", "/tmp: Is a directory");
    assert_setting_refused("ALLREDUCE_RULES", "/nonexistent/rules",
                           "ALLREDUCE_RULES: /nonexistent/rules: No such file or directory");
    assert_setting_refused("ALLREDUCE_RULES", "/no\nfile", "/no\\x0Afile: ");
}

static void
the_rules_file_is_bounded(void **state)
{
    (void)state;
    const size_t limit = 1 << 20;
    char *text = malloc(limit + 1);
    assert_non_null(text);
    memset(text, '\n', limit + 1);
    text[limit - 1] = '8'; /* Intel's id of ring */
    write_rules_file(text, limit);
    assert_decides(8, true, "ring", ar_reason_rule);
    write_rules_file(text, limit + 1);
    assert_refused("longer than 1048576 bytes");
    free(text);
}

static void
not_strict_turns_errors_into_warnings_and_native(void **state)
{
    (void)state;
    set("ALLREDUCE_STRICT", "0");
    set("ALLREDUCE_ALGO", "rign");
    set("ALLREDUCE_WAIT", "spin");
    struct ar_config *config = ar_config_from_environment(0);
    assert_non_null(config);
    assert_int_equal(config->error, AR_OK);
    assert_true(config->broken);
    assert_int_equal(config->wait, AR_WAIT_SPIN);
    assert_non_null(strstr(config->problem, "ALLREDUCE_ALGO: column 1: unknown algorithm 'rign'"));
    const struct decision decision = decide(config, 8, 4, true);
    assert_string_equal(decision.choice, "native");
    assert_ptr_equal(decision.reason, ar_reason_broken);
    ar_config_destroy(config);
}

static void
same_decisions(const struct ar_config *a, const struct ar_config *b)
{
    for (size_t bytes = 0; bytes < 1 << 24; bytes = 2 * bytes + 1)
        for (int nranks = 1; nranks < 20; nranks++)
            for (int commutative = 0; commutative < 2; commutative++) {
                const struct decision x = decide(a, bytes, nranks, commutative);
                const struct decision y = decide(b, bytes, nranks, commutative);
                assert_string_equal(x.choice, y.choice);
                assert_ptr_equal(x.reason, y.reason);
            }
}

/* The environment as it is, rebuilt from its text, is the same. */
static struct ar_config *
assert_rebuilds(void)
{
    struct ar_config *config = ar_config_from_environment(0);
    assert_non_null(config);
    struct ar_config *other = ar_config_from_text(config->text);
    assert_non_null(other);
    assert_string_equal(other->text, config->text);
    assert_string_equal(other->problem, config->problem);
    assert_int_equal(other->error, config->error);
    assert_int_equal(other->broken, config->broken);
    if (!config->broken)
        assert_true(other->scratch_bytes == config->scratch_bytes);
    same_decisions(config, other);
    ar_config_destroy(other);
    return config;
}

static void
the_program_comes_after_algo_and_before_rules(void **state)
{
    (void)state;
    set("ALLREDUCE_ALGO", "ring:0-8");
    write_rules_file("star:0-100", strlen("star:0-100"));
    struct ar_config *base = good_config();
    struct ar_config *config = ar_config_with_program(base, "rhd:0-16; butterfly:0-32");
    assert_non_null(config);
    assert_int_equal(config->error, AR_OK);
    assert_ptr_equal(decide(config, 8, 4, true).reason, ar_reason_named);
    assert_ptr_equal(decide(config, 16, 4, true).reason, ar_reason_program);
    assert_string_equal(decide(config, 17, 4, true).choice, "butterfly");
    assert_ptr_equal(decide(config, 33, 4, true).reason, ar_reason_rule);

    struct ar_config *other = ar_config_from_text(config->text), *back;
    same_decisions(config, other);
    back = ar_config_with_program(other, "");
    assert_string_equal(back->text, base->text);
    ar_config_destroy(back);
    ar_config_destroy(other);
    ar_config_destroy(config);
    ar_config_destroy(base);
}

static void
a_bad_choice_of_the_program_is_an_error(void **state)
{
    (void)state;
    set("ALLREDUCE_STRICT", "0");
    struct ar_config *base = good_config();
    struct ar_config *config = ar_config_with_program(base, "ring; rign");
    assert_int_equal(config->error, AR_ERR_SYNTAX);
    assert_memory_equal(config->problem, "the program's choice: column 7: ",
                        strlen("the program's choice: column 7: "));
    ar_config_destroy(config);
    ar_config_destroy(base);
}

static void
always_native_knows_who_said_so(void **state)
{
    (void)state;
    write_rules_file("native", strlen("native"));
    struct ar_config *base = good_config();
    struct ar_config *ring = ar_config_with_program(base, "ring");
    struct ar_config *native = ar_config_with_program(base, "native");
    assert_ptr_equal(ar_config_always_native(base), ar_reason_rule);
    assert_null(ar_config_always_native(ring));
    assert_ptr_equal(ar_config_always_native(native), ar_reason_program);
    ar_config_destroy(native);
    ar_config_destroy(ring);
    ar_config_destroy(base);
}

static void
what_rank_0_writes_for_all_need_not_be_writable_on_other_ranks(void **state)
{
    static const char *const names[] = {"ALLREDUCE_STATS", "ALLREDUCE_TRACE",
                                        "ALLREDUCE_TUNE_DUMP"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        for (int rank = 0; rank < 2; rank++) {
            set(names[i], "/nowhere/%p");
            struct ar_config *config = ar_config_from_environment(rank);
            assert_non_null(config);
            assert_int_equal(config->broken, rank == 0);
            ar_config_destroy(config);
            set(names[i], "/tmp/%q"); /* no name of a file */
            config = ar_config_from_environment(rank);
            assert_non_null(config);
            assert_true(config->broken);
            ar_config_destroy(config);
        }
        unsetenv(names[i]);
    }
}

static void
a_rank_that_writes_at_a_signal_must_be_able_to(void **state)
{
    (void)state;
    set("ALLREDUCE_STATS", "/nowhere/x");
    set("ALLREDUCE_STATS_SIGNAL", "USR1");
    struct ar_config *const config = ar_config_from_environment(1);
    assert_non_null(config);
    assert_string_equal(config->problem,
                        "ALLREDUCE_STATS: column 1: cannot write '/nowhere/x': No such file or "
                        "directory; allowed: a file in an existing folder that can be written");
    ar_config_destroy(config);
}

static void
statistics_and_a_timeline_need_a_file_each(void **state)
{
    (void)state;
    set("ALLREDUCE_STATS", "x.json");
    set("ALLREDUCE_TRACE", "x.json,calls=1-2");
    struct ar_config *const config = ar_config_from_environment(0);
    assert_non_null(config);
    assert_string_equal(config->problem, "ALLREDUCE_TRACE: the file of ALLREDUCE_STATS, which it "
                                         "would replace; name another one");
    ar_config_destroy(config);
    set("ALLREDUCE_STATS", "/dev/stderr");
    set("ALLREDUCE_TRACE", "/dev/stderr");
    ar_config_destroy(good_config());
}

static void
statistics_are_agreed_upon_and_their_signal_is_not(void **state)
{
    (void)state;
    set("ALLREDUCE_STATS", " x%%.%p.json ");
    ar_config_destroy(assert_rebuilds());
    struct ar_config *plain = good_config();
    assert_string_equal(plain->stats_file, "x%%.%p.json");
    set("ALLREDUCE_STATS_SIGNAL", "usr2");
    struct ar_config *config = good_config();
    assert_int_equal(config->stats_signal, SIGUSR2);
    assert_string_equal(config->text, plain->text);
    ar_config_destroy(config);
    ar_config_destroy(plain);
}

static void
assert_path(const char *name, const char *wanted)
{
    char path[256];
    ar_stats_file_path(path, sizeof path, name);
    assert_string_equal(path, wanted);
}

static void
a_name_of_a_file_takes_the_job_the_user_the_host_and_the_process(void **state)
{
    static const char *const variables[] = {"SLURM_JOB_ID",   "PBS_JOBID", "LSB_JOBID", "JOB_ID",
                                            "PMIX_NAMESPACE", "USER",      "LOGNAME"};
    char host[256] = "", wanted[512];
    char *saved[7];
    (void)state;
    for (int i = 0; i < 7; i++) {
        saved[i] = getenv(variables[i]) ? strdup(getenv(variables[i])) : NULL;
        unsetenv(variables[i]);
    }
    gethostname(host, sizeof host - 1);
    snprintf(wanted, sizeof wanted, "/x/%s.%ld%%j", host, (long)getpid());
    assert_path("/x/%h.%p%%j", wanted);
    snprintf(wanted, sizeof wanted, "/x/%ld.%ld", (long)getpid(), (long)getuid());
    assert_path("/x/%j.%u", wanted); /* none is set */
    setenv("LOGNAME", "../ann\n", 1);
    setenv("PMIX_NAMESPACE", "prterun-a/b@1", 1);
    assert_path("/x/%u/%j", "/x/.._ann_/prterun-a_b@1");
    for (int i = 5; i-- > 0;) { /* the first of the list that is set */
        setenv(variables[i], variables[i], 1);
        snprintf(wanted, sizeof wanted, "/%s", variables[i]);
        assert_path("/%j", wanted);
    }
    setenv("SLURM_JOB_ID", "", 1);
    setenv("USER", "bob", 1);
    assert_path("/%u.%j", "/bob.PBS_JOBID");
    for (int i = 0; i < 7; i++) {
        unsetenv(variables[i]);
        if (saved[i])
            setenv(variables[i], saved[i], 1);
        free(saved[i]);
    }
    set("ALLREDUCE_STATS", "/tmp/x%J");
    struct ar_config *const config = ar_config_from_environment(1);
    assert_non_null(config);
    assert_string_equal(
        config->problem,
        "ALLREDUCE_STATS: column 7: '%J' in a file name; allowed: %j for the job, "
        "%u for the user, %h for the host, %p for the process id, %% for a single %");
    ar_config_destroy(config);
}

static void
another_rank_rebuilds_the_same(void **state)
{
    (void)state;
    const char text[] = "native:9-99@3\n1:100-200,1M-inf@7-9 # x\n";
    ar_config_destroy(assert_rebuilds());
    set("ALLREDUCE_ALGO", "8:0-8@2-5;ring ( window=3,segment=16KiB ):1K-4K");
    set("ALLREDUCE_SCRATCH", "100000");
    set("ALLREDUCE_ALGO_LIST", "recursive-doubling");
    write_rules_file(text, strlen(text));
    struct ar_config *config = assert_rebuilds();
    assert_string_equal(config->text,
                        "ALLREDUCE_ALGO=ring:0-8@2-5;ring(segment=16K,window=3):1K-4K\n"
                        "ALLREDUCE_ALGO_LIST=butterfly\n"
                        "ALLREDUCE_RULES=native:9-99@3;butterfly:100-200,1M-inf@7-9\n"
                        "ALLREDUCE_SCRATCH=100000\n");
    ar_config_destroy(config);
}

static void
another_rank_rebuilds_a_broken_one(void **state)
{
    (void)state;
    set("ALLREDUCE_ALGO", "rign=\n;#");
    ar_config_destroy(assert_rebuilds());
    set("ALLREDUCE_STRICT", "0");
    ar_config_destroy(assert_rebuilds());
}

static void
a_text_that_no_rank_wrote_is_an_error(void **state)
{
    (void)state;
    static const char *const bad[] = {"x", "ALLREDUCE_WAIT=spin\n", "ALLREDUCE_ALGO=rign\n",
                                      "ALLREDUCE_SCRATCH=1\n", "=\n"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct ar_config *config = ar_config_from_text(bad[i]);
        assert_non_null(config);
        assert_int_equal(config->error, AR_ERR_SYNTAX);
        assert_non_null(strstr(config->problem, "configuration of another rank: "));
        ar_config_destroy(config);
    }
}

static void
the_text_says_what_decides_and_nothing_else(void **state)
{
    (void)state;
    struct ar_config *plain = good_config();
    set("ALLREDUCE_WAIT", "yield");
    set("ALLREDUCE_VERBOSE", "1");
    set("ALLREDUCE_STRICT", "0");
    struct ar_config *config = good_config();
    assert_string_equal(config->text, plain->text);
    ar_config_destroy(config);
    set("ALLREDUCE_ALGO", "ring");
    config = good_config();
    assert_string_not_equal(config->text, plain->text);
    ar_config_destroy(config);
    ar_config_destroy(plain);
}

static void
every_variable_has_its_row_in_full(void **state)
{
    (void)state;
    for (int i = 0; i < AR_VARIABLES; i++) {
        const struct ar_variable *const row = &ar_variables[i];
        assert_int_equal(strncmp(row->name, AR_VARIABLE_PREFIX, strlen(AR_VARIABLE_PREFIX)), 0);
        assert_ptr_equal(ar_variable_find((struct ar_word){row->name, strlen(row->name)}), row);
        assert_true(row->values[0] && row->help[0]);
        assert_true(!row->kind->take == !row->kind->print);
        set(row->name, row->fallback);
    }
    ar_config_destroy(good_config()); /* every fallback is a value that is taken */
}

static void
levels_are_read_in_either_way_of_writing(void **state)
{
    (void)state;
    set("ALLREDUCE_LEVELS", " l3, numa ,socket ");
    struct ar_config *config = good_config();
    assert_non_null(strstr(config->text, "ALLREDUCE_LEVELS=l3+numa+socket\n"));
    ar_config_destroy(config);
    set("ALLREDUCE_LEVELS", "4,16");
    config = assert_rebuilds();
    assert_int_equal(config->levels.kind, AR_LEVELS_SIZES);
    assert_int_equal(config->levels.n, 2);
    assert_int_equal(config->levels.value[1], 16);
    ar_config_destroy(config);
    assert_setting_refused("ALLREDUCE_LEVELS", "4,2",
                           "column 1: '4,2'; allowed: numbers that grow from the innermost level "
                           "on, as in 4+16");
    assert_setting_refused("ALLREDUCE_LEVELS", "l3,4", "allowed: numbers before names");
    assert_setting_refused("ALLREDUCE_LEVELS", "auto,4", "allowed: auto or flat alone");
    assert_setting_refused("ALLREDUCE_LEVELS", "4,core",
                           "column 1: '4,core'; allowed: auto, flat, or 1 to 5 levels with + "
                           "between them: ascending numbers of ranks from 2 on, then any of l3, "
                           "numa, socket, as in 4+16, l3+numa or 8+socket");
    set("ALLREDUCE_LEVELS", "8,numa");
    config = assert_rebuilds();
    assert_non_null(strstr(config->text, "ALLREDUCE_LEVELS=8+numa\n"));
    ar_config_destroy(config);
}

static void
levels_that_change_bits_are_refused_where_these_must_stay(void **state)
{
    (void)state;
    set("ALLREDUCE_DETERMINISM", "run");
    assert_setting_refused("ALLREDUCE_LEVELS", "8+numa",
                           "8+numa depends on the cores to which ranks are bound; "
                           "ALLREDUCE_DETERMINISM=run needs more; allowed: auto (which is flat "
                           "then), flat, numbers");
    assert_setting_refused("ALLREDUCE_LEVELS", "numa",
                           "numa depends on the cores to which ranks are bound; "
                           "ALLREDUCE_DETERMINISM=run needs more; allowed: auto (which is flat "
                           "then), flat, numbers");
    set("ALLREDUCE_LEVELS", "4,16");
    ar_config_destroy(good_config());
    set("ALLREDUCE_LEVELS", "auto");
    ar_config_destroy(good_config());
    set("ALLREDUCE_DETERMINISM", "order"); /* exact in any order */
    set("ALLREDUCE_LEVELS", "numa");
    ar_config_destroy(good_config());
}

/* Values that no default is, of variables that ranks compare. */
static void
what_ranks_compare_comes_back_from_the_text(void **state)
{
    (void)state;
    static const char *const values[][2] = {
        {"ALLREDUCE_ALGO", "ring:0-8"},   {"ALLREDUCE_ALGO_LIST", "ring,rhd"},
        {"ALLREDUCE_DETERMINISM", "run"}, {"ALLREDUCE_LEVELS", "flat"},
        {"ALLREDUCE_SCRATCH", "1M"},      {"ALLREDUCE_STATS", "/tmp/x.json"},
        {"ALLREDUCE_STREAMING", "never"}, {"ALLREDUCE_TRANSPORT", "mpi"},
        {"ALLREDUCE_TUNE", "online"},     {"ALLREDUCE_TUNE_OVERHEAD", "7"},
        {"ALLREDUCE_USER_OPS", "cut"},    {"ALLREDUCE_VERIFY", "1/3,warn"},
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char line[64];
        set(values[i][0], values[i][1]);
        struct ar_config *const config = assert_rebuilds();
        snprintf(line, sizeof line, "%s=%s\n", values[i][0], values[i][1]);
        assert_non_null(strstr(config->text, line));
        ar_config_destroy(config);
    }
}

static void
what_tuning_may_cost_is_compared_only_where_calls_are_tuned(void **state)
{
    (void)state;
    set("ALLREDUCE_TUNE", "off");
    struct ar_config *const without = ar_config_from_environment(0);
    set("ALLREDUCE_TUNE_OVERHEAD", "7");
    struct ar_config *const idle = ar_config_from_environment(0);
    set("ALLREDUCE_TUNE", "online");
    struct ar_config *const tuned = ar_config_from_environment(0);
    set("ALLREDUCE_TUNE_OVERHEAD", "8");
    struct ar_config *const other = ar_config_from_environment(0);
    assert_true(without && idle && tuned && other);
    assert_string_equal(idle->text, without->text);
    assert_string_not_equal(tuned->text, other->text);
    ar_config_destroy(without);
    ar_config_destroy(idle);
    ar_config_destroy(tuned);
    ar_config_destroy(other);
}

/* As a heading of the manual page has it: names and values bold, or with more than that. */
static void
the_manual_has_every_variable_with_its_values_and_default(void **state)
{
    (void)state;
    static char page[1 << 17];
    FILE *const file = fopen(MANUAL, "r");
    assert_non_null(file);
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    assert_true(feof(file));
    fclose(file);
    for (int i = 0; i < AR_VARIABLES; i++) {
        const struct ar_variable *const row = &ar_variables[i];
        char heading[256];
        if (row->fallback[0])
            snprintf(heading, sizeof heading, ".TP\n.BR %s \" (%s; default %s)\"\n", row->name,
                     row->values, row->fallback);
        else
            snprintf(heading, sizeof heading, ".TP\n.B %s\n", row->name);
        if (!strstr(page, heading))
            fail_msg("%s lacks: %s", MANUAL, heading);
    }
}

static int
make_rules_file(void **state)
{
    (void)state;
    const int fd = mkstemp(rules_path);
    return fd < 0 || close(fd);
}

static int
remove_rules_file(void **state)
{
    (void)state;
    return unlink(rules_path);
}

#define TEST(function) cmocka_unit_test_setup(function, empty_environment)

/* Any library may have MPI 5's ABI, so each launcher may be its own, as long as there is one world.
 */
static void
a_launcher_is_held_against_the_mpi_library(void **state)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK",
                                        "OMPI_COMM_WORLD_SIZE"};
    char text[512];
    (void)state;
    set(names[0], "0");
    set(names[1], "0");
    set(names[2], "2");
    assert_true(ar_launcher_splits("mpich", 0, text, sizeof text));
    assert_non_null(strstr(text, "start it with mpiexec of MPICH"));
    assert_false(ar_launcher_splits("openmpi", 0, text, sizeof text));
    assert_false(ar_launcher_splits("abi", 0, text, sizeof text));
    assert_false(ar_launcher_splits("abi", 2, text, sizeof text));
    assert_true(ar_launcher_splits("abi", 1, text, sizeof text));
    assert_non_null(strstr(text, "the launcher of the same installation"));
    for (int i = 0; i < 3; i++)
        unsetenv(names[i]);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_set_gives_the_defaults),
        TEST(levels_are_read_in_either_way_of_writing),
        TEST(levels_that_change_bits_are_refused_where_these_must_stay),
        TEST(ops_of_the_program_are_cut_only_where_somebody_says_so),
        TEST(blank_values_are_as_unset),
        TEST(every_setting_is_read),
        TEST(calls_are_verified_as_asked),
        TEST(a_timeout_is_seconds_and_an_action),
        TEST(a_timeout_is_each_ranks_own_affair),
        TEST(a_trace_is_a_file_calls_and_memory),
        TEST(algo_comes_before_rules_before_auto),
        TEST(auto_and_native_may_be_named),
        TEST(an_op_that_does_not_commute_needs_rank_order),
        TEST(a_parameter_may_leave_rank_order),
        TEST(intel_stands_for_the_variable_of_intel_mpi),
        TEST(the_list_of_intel_mpi_counts_only_with_the_word_intel),
        TEST(bad_values_are_refused_by_name_and_column),
        TEST(what_breaks_the_promise_is_refused),
        TEST(what_keeps_the_promise_is_taken),
        TEST(the_program_must_keep_the_promise_too),
        TEST(sums_are_exact_but_of_long_doubles),
        TEST(rounded_calls_alone_are_restricted),
        TEST(the_first_of_several_problems_is_told),
        TEST(misspelt_variables_are_refused),
        TEST(variables_that_are_near_none_are_named_and_change_nothing),
        TEST(a_byte_order_mark_is_no_part_of_a_file),
        TEST(a_bad_rules_file_is_refused_with_its_place),
        TEST(the_rules_file_is_bounded),
        TEST(not_strict_turns_errors_into_warnings_and_native),
        TEST(the_program_comes_after_algo_and_before_rules),
        TEST(a_bad_choice_of_the_program_is_an_error),
        TEST(always_native_knows_who_said_so),
        TEST(what_rank_0_writes_for_all_need_not_be_writable_on_other_ranks),
        TEST(a_rank_that_writes_at_a_signal_must_be_able_to),
        TEST(a_name_of_a_file_takes_the_job_the_user_the_host_and_the_process),
        TEST(statistics_and_a_timeline_need_a_file_each),
        TEST(statistics_are_agreed_upon_and_their_signal_is_not),
        TEST(another_rank_rebuilds_the_same),
        TEST(another_rank_rebuilds_a_broken_one),
        TEST(a_text_that_no_rank_wrote_is_an_error),
        TEST(the_text_says_what_decides_and_nothing_else),
        TEST(every_variable_has_its_row_in_full),
        TEST(what_ranks_compare_comes_back_from_the_text),
        TEST(what_tuning_may_cost_is_compared_only_where_calls_are_tuned),
        TEST(a_launcher_is_held_against_the_mpi_library),
        TEST(the_manual_has_every_variable_with_its_values_and_default),
    };
    return cmocka_run_group_tests(tests, make_rules_file, remove_rules_file);
}
