/* Settings of other libraries, as rules and back. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "translate/translate.h"
#include "tuning/candidates.h"
#include "unit.h"

static struct ar_rules *
parse(const char *text)
{
    struct ar_rules *rules;
    struct ar_problem problem;
    if (ar_rules_parse_lines(&rules, text, &problem))
        fail_msg("%s: %s", text, problem.text);
    return rules;
}

/* The setting as rules of ours. */
static struct ar_translation
from(enum ar_foreign library, const char *text)
{
    struct ar_translation t;
    struct ar_problem problem;
    if (ar_translate_from(&t, library, text, 0, &problem))
        fail_msg("%s: %d:%d: %s", text, problem.line, problem.column, problem.text);
    return t;
}

static void
assert_from(enum ar_foreign library, const char *text, const char *expected)
{
    struct ar_translation t = from(library, text);
    assert_string_equal(t.text, expected);
    ar_translation_fini(&t);
}

/* What the rules run, by name; NULL: native. */
static const char *
run(const struct ar_rules *rules, size_t bytes, int nranks)
{
    const struct ar_request request = {
        .bytes = bytes, .nranks = nranks, .commutative = true, .shares_memory = true};
    const struct ar_clause *const clause = ar_rules_match(rules, &request);
    return clause && clause->choice.kind == AR_CHOICE_ALGORITHM ? clause->choice.algorithm->name
                                                                : NULL;
}

static void
what_has_a_counterpart_has_one_that_parses(void **state)
{
    size_t without = 0;
    (void)state;
    for (size_t i = 0; i < ar_counterpart_count(); i++) {
        const struct ar_counterpart *const c = ar_counterpart_at(i);
        char id[16];
        assert_ptr_equal(ar_counterpart_find(c->library, ar_word_of(c->name)), c);
        snprintf(id, sizeof id, "%d", c->id);
        if (c->id >= 0)
            assert_ptr_equal(ar_counterpart_find(c->library, ar_word_of(id)), c);
        if (c->choice)
            ar_rules_destroy(parse(c->choice));
        else
            assert_non_null(c->note);
        without += !c->choice;
    }
    assert_true(without > 0 && without < ar_counterpart_count() / 2);
}

/* The parser takes the parameters of an id from the table. */
static void
an_id_of_intel_mpi_is_what_the_table_says(void **state)
{
    (void)state;
    for (int id = 0; id <= 12; id++) {
        char text[8], *means;
        snprintf(text, sizeof text, "%d", id);
        const struct ar_counterpart *const c =
            ar_counterpart_find(AR_LIBRARY_INTEL, ar_word_of(text));
        assert_non_null(c);
        struct ar_rules *rules = parse(text), *said = parse(c->choice);
        assert_int_equal(rules->nclauses, c->on_one_node ? 2 : 1);
        assert_true(ar_choice_equals(&rules->clauses[rules->nclauses - 1].choice,
                                     &said->clauses[0].choice));
        means = ar_rules_text(rules);
        if (c->on_one_node)
            assert_memory_equal(means, c->on_one_node, strlen(c->on_one_node));
        free(means);
        ar_rules_destroy(said);
        ar_rules_destroy(rules);
    }
}

/* A choice with parameters is a library's only where they are its own. */
static void
parameters_tell_which_id_is_meant(void **state)
{
    static const struct {
        const char *rules, *text;
    } cases[] = {
        {"two_level(inter=knomial,lanes=one)", "11:0-inf;"},
        {"two_level(inter=knary,lanes=one)", "12:0-inf;"},
        {"shm", "10:0-inf;"},
        {"two_level(inter=ring)", "0:0-inf;"},
        {"knomial(radix=2)", "9:0-inf;"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ar_rules *rules = parse(cases[i].rules);
        struct ar_translation t;
        struct ar_problem problem;
        assert_int_equal(ar_translate_to(&t, AR_LIBRARY_INTEL, rules, &problem), AR_OK);
        assert_string_equal(t.text, cases[i].text);
        ar_translation_fini(&t);
        ar_rules_destroy(rules);
    }
}

static void
a_name_or_an_id_is_the_algorithm_for_all_sizes(void **state)
{
    (void)state;
    assert_from(AR_LIBRARY_OPENMPI, "3", "butterfly");
    assert_from(AR_LIBRARY_OPENMPI, "allgather_reduce", "allgather_fold(allgather=bruck)");
    assert_from(AR_LIBRARY_MPICH, "recursive-doubling", "butterfly");
    assert_from(AR_LIBRARY_MPICH, "recexch", "knomial(radix=4)");
    assert_from(AR_LIBRARY_MPICH, "auto", "native");
    assert_from(AR_LIBRARY_INTEL, "8:0-4K@2-8;0", "ring:0-4K@2-8;native");
}

static const char rules_file[] = "rule-file-version-2\n"
                                 "2 # collectives\n"
                                 "3 # another one, which is passed over\n"
                                 "1 64 1\n"
                                 "0 99 0 0 0\n"
                                 "2 # allreduce\n"
                                 "2 # sizes of communicators\n"
                                 "4 3\n"
                                 "0 3 0 0 0\n"
                                 "10240 2 0 0 0\n"
                                 "1000000 5 0 1048576 9\n"
                                 "64 2 0 0 0 0 0 4096 6 0 0 0\n";

/* A size holds from itself on, to the next one, and the first one below itself, too; 0 is Open
 * MPI's own choice. */
static void
a_rules_file_chooses_as_open_mpi_does(void **state)
{
    static const struct {
        size_t bytes;
        int nranks;
        const char *runs;
    } calls[] = {
        {8, 3, "butterfly"},
        {8, 4, "butterfly"},
        {10239, 63, "butterfly"},
        {10240, 63, "reduce_bcast"},
        {999999, 4, "reduce_bcast"},
        {1000000, 4, "segmented_ring"},
        {SIZE_MAX, 63, "segmented_ring"},
        {0, 64, NULL},
        {4095, 64, NULL},
        {4096, 64, "rhd"},
        {4096, 5000, "rhd"},
    };
    (void)state;
    struct ar_translation t = from(AR_LIBRARY_OPENMPI, rules_file);
    struct ar_rules *rules = parse(t.text);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        const char *const runs = run(rules, calls[i].bytes, calls[i].nranks);
        if (strcmp(runs ? runs : "native", calls[i].runs ? calls[i].runs : "native") != 0)
            fail_msg("%zu bytes, %d ranks: %s in %s", calls[i].bytes, calls[i].nranks, runs,
                     t.text);
    }
    assert_non_null(strstr(t.text, "segmented_ring(segment=1M"));
    assert_non_null(strstr(t.notes, "nonoverlapping"));
    assert_non_null(strstr(t.notes, "line 8: Open MPI applies the rules of its first size, 4, to "
                                    "smaller communicators, too\n"));
    ar_rules_destroy(rules);
    ar_translation_fini(&t);
}

/* From version 2 on a rule may end with a count of requests; of an allreduce only segmented_ring
 * takes a segment, which makes it the ring where there is none. */
static void
a_rule_has_a_count_of_requests_or_none(void **state)
{
    static const char rules[] = "rule-file-version-3\n1 2\n1 1\n4\n"
                                "0 3 0 0\n"
                                "100 2 0 4096 7\n"
                                "200 5 2 0 8 # no segment\n"
                                "300 5 0 65536\n";
    (void)state;
    struct ar_translation t = from(AR_LIBRARY_OPENMPI, rules);
    assert_string_equal(t.text, "butterfly:0-99;"
                                "reduce_bcast(root=0,broadcast=binomial):100-199;"
                                "ring:200-299;"
                                "segmented_ring(segment=64K,window=4):300-inf");
    assert_non_null(strstr(t.notes, "line 6: segment 4096 is left out, because Open MPI's "
                                    "nonoverlapping does not use it"));
    assert_non_null(strstr(t.notes, "line 6: request count 7 is left out"));
    assert_non_null(strstr(t.notes, "line 7: topology 2 is left out"));
    assert_non_null(
        strstr(t.notes, "line 7: Open MPI's segmented_ring without segment runs as its"));
    ar_translation_fini(&t);
}

/* Of several blocks Open MPI keeps the last, of a file without one nothing, and what follows the
 * last rule that the counts announce it does not read. */
static void
what_open_mpi_does_not_read_is_left_out(void **state)
{
    static const struct {
        const char *file, *rules, *note;
    } files[] = {
        {"2\n2 1 1 1 0 1 0 0\n2 1 1 1 0 4 0 0\n", "ring",
         "line 2: Open MPI keeps the last of several collectives 2, so this one is left out\n"},
        {"1 2\n1 1\n1 # should be 2\n0 3 0 0\n100 4 0 0 # ring\n", "butterfly",
         "line 5: Open MPI reads no further, because the counts before are complete: what follows"},
        {"1 2 1 1 1 0 3 0 0 # one\n\n # two", "butterfly", ""},
        {"1\n7 1 1 1 0 1 0 0\n", "native", "the file has no rules for allreduce"},
        {"0 # none\n", "native", "the file has no rules for allreduce"},
        {"1 2 0 # no sizes", "native", "0 leaves the choice to Open MPI"},
        {"1 2 2\n1 0\n8 1 0 4 0 0", "native:0-inf@0-7;ring:0-inf@8-inf", "0 leaves the choice"},
        {"1 2 1 0x1 02\n0 3 0 0 010 4 0 0", "butterfly:0-7;ring:8-inf",
         "recursive doubling for fewer"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct ar_translation t = from(AR_LIBRARY_OPENMPI, files[i].file);
        if (strcmp(t.text, files[i].rules) != 0 || !strstr(t.notes, files[i].note))
            fail_msg("%s: %s, %s", files[i].file, t.text, t.notes);
        ar_translation_fini(&t);
    }
}

#ifndef AR_WITHOUT_JANSSON

/* What Open MPI's manual has as its example, trailing comma and all, and more. */
static const char json_file[] =
    "{\n"
    "  \"$schema\": \"tuned_schema.json\",\n"
    "  \"rule_file_version\": 3, \"module\": \"tuned\",\n"
    "  \"collectives\": {\n"
    "    \"bcast\": [{\"rules\": [{\"alg\": \"chain\"}]}],\n"
    "    \"allreduce\": [\n"
    "      {\"comm_size_min\": 64, \"comm_size_max\": 128, \"rules\": [\n"
    "        {\"msg_size_min\": 512, \"msg_size_max\": 511999, \"alg\": 2, },\n"
    "        {\"msg_size_min\": 512000, \"msg_size_max\": \"inf\", \"alg\": "
    "\"recursive_doubling\",\n"
    "         \"reqs\": 8}]},\n"
    "      {\"comm_rank_distribution\": \"single-node\", \"rules\": [\n"
    "        {\"alg\": \"sparbit, }\"},\n"
    "        {\"alg\": 5, \"seg_size\": 1024, \"faninout\": 3, \"fanout\": 3}]},\n"
    "      {\"comm_rank_distribution\": \"one-per-node\", \"comm_size_max\": 2147483647, "
    "\"rules\": [\n"
    "        {\"msg_size_max\": 4095, \"alg\": \"ignore\"}, {\"msg_size_min\": 4096, \"alg\": "
    "6}]},\n"
    "    ]\n"
    "  }\n"
    "}\n";

static void
json_rules_match_first_come_first_served(void **state)
{
    struct ar_translation t;
    struct ar_problem problem;
    (void)state;
    assert_true(ar_openmpi_is_json(json_file));
    assert_false(ar_openmpi_is_json("1 2"));
    if (ar_openmpi_translate_json(&t, json_file, &problem))
        fail_msg("%d:%d: %s", problem.line, problem.column, problem.text);
    assert_string_equal(t.text, "reduce_bcast(root=0,broadcast=binomial):512-511999@64-128;"
                                "butterfly:500K-inf@64-128;"
                                "native:0-inf@64-128;"
                                "segmented_ring(segment=1K,window=4):nodes=1;"
                                "native:0-4095,ppn=1;"
                                "rhd:4K-inf,ppn=1;"
                                "native");
    assert_non_null(strstr(t.notes,
                           "collectives.allreduce[0].rules[1]: reqs 8 is left out, because "
                           "Open MPI's recursive_doubling does not use it"));
    assert_non_null(strstr(t.notes, "collectives.allreduce[1].rules[0].alg: Open MPI has no "
                                    "allreduce algorithm 'sparbit, }', and leaves the rule out"));
    assert_non_null(strstr(t.notes, "collectives.allreduce[1].rules[1]: faninout 3 is left out"));
    assert_non_null(strstr(t.notes, "collectives.allreduce[1].rules[1].fanout: not a key of Open"));
    ar_translation_fini(&t);
}

/* One note may be the end of another. */
static void
each_json_key_is_noted_as_it_prints(void **state)
{
    static const char file[] = "{\"ab\": 1, \"b\": 2, \"x\\u001by\": 3, \"collectives\": {}}";
    struct ar_translation t;
    struct ar_problem problem;
    (void)state;
    assert_int_equal(ar_openmpi_translate_json(&t, file, &problem), AR_OK);
    assert_string_equal(t.notes,
                        "ab: not a key of Open MPI's, which ignores it\n"
                        "b: not a key of Open MPI's, which ignores it\n"
                        "x\\x1By: not a key of Open MPI's, which ignores it\n"
                        "the file has no rules for allreduce, which Open MPI then decides\n");
    ar_translation_fini(&t);
}

/* The file's distribution holds for rules that have none; "any" is one. */
static void
a_json_rule_overrides_what_holds_for_the_file(void **state)
{
    static const char file[] =
        "{\"comm_rank_distribution\": \"single-node\", \"collectives\": {\"allreduce\": ["
        "{\"comm_size_max\": 4, \"rules\": [{\"alg\": \"ring\"}]},"
        "{\"comm_rank_distribution\": \"any\", \"rules\": [{\"alg\": 3}]}]}}";
    struct ar_translation t;
    struct ar_problem problem;
    (void)state;
    assert_int_equal(ar_openmpi_translate_json(&t, file, &problem), AR_OK);
    assert_string_equal(t.text, "ring:0-inf@0-4,nodes=1;"
                                "butterfly");
    ar_translation_fini(&t);
    assert_int_equal(ar_openmpi_translate_json(&t, "{\"collectives\": {}}", &problem), AR_OK);
    assert_string_equal(t.text, "native");
    ar_translation_fini(&t);
}

static void
a_mistake_in_json_is_told_with_its_key(void **state)
{
    static const struct {
        const char *text;
        int line;
        const char *says;
    } wrong[] = {
        {"{\n\"collectives\" {}}", 2, "not JSON: "},
        {"{}", 0, "collectives: expected an object with a key for each collective"},
        {"{\"rule_file_version\": 4}", 0, "rule_file_version: expected 3, found '4'"},
        {"{\"module\": \"han\"}", 0, "module: expected \"tuned\", found '\"han\"'"},
        {"{\"collectives\": {\"allreduce\": 1}}", 0, "collectives.allreduce: expected an array"},
        {"{\"collectives\": {\"allreduce\": [1]}}", 0, "collectives.allreduce[0]: expected an obj"},
        {"{\"collectives\": {\"allreduce\": [{}]}}", 0,
         "collectives.allreduce[0].rules: expected an array of message rules"},
        {"{\"collectives\": {\"allreduce\": [{\"comm_size_min\": -1}]}}", 0,
         "collectives.allreduce[0].comm_size_min: expected a whole number from 0 on, or \"inf\", "
         "found '-1'"},
        {"{\"collectives\": {\"allreduce\": [{\"comm_rank_distribution\": \"some\"}]}}", 0,
         "collectives.allreduce[0].comm_rank_distribution: expected any, one-per-node or"},
        {"{\"collectives\": {\"allreduce\": [{\"rules\": [{}]}]}}", 0,
         "collectives.allreduce[0].rules[0].alg: expected the name or the number"},
        {"{\"collectives\": {\"allreduce\": [{\"rules\": [{\"alg\": 3, \"reqs\": 1.5}]}]}}", 0,
         "collectives.allreduce[0].rules[0].reqs: expected a whole number"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct ar_translation t;
        struct ar_problem problem;
        const int error = ar_openmpi_translate_json(&t, wrong[i].text, &problem);
        if (error != AR_ERR_SYNTAX || problem.line != wrong[i].line ||
            !strstr(problem.text, wrong[i].says))
            fail_msg("%s: %d, %d: %s", wrong[i].text, error, problem.line, problem.text);
    }
}

#endif

static void
tokens_of_ucc_are_clauses(void **state)
{
    (void)state;
    assert_from(AR_LIBRARY_UCC, "allreduce:0-4k:@knomial#allreduce:4k-inf:[8-16]:host:inf:@1",
                "knomial(radix=4):0-4095;rhd:4K-inf@8-16");
    assert_from(AR_LIBRARY_UCC, "bcast:@knomial#allreduce:@dbt",
                "double_tree(segment=64K,window=auto)");
    assert_from(AR_LIBRARY_UCC, "allreduce:0:@ring", "native");
    assert_from(AR_LIBRARY_UCC, "@ring:host,cuda:0-4k:bcast,allreduce", "ring:0-4095");
    assert_from(AR_LIBRARY_UCC, "@ring", "ring");
}

/* Other collectives have algorithms that no allreduce has. */
static void
tokens_of_ucc_about_something_else_are_left_out(void **state)
{
    (void)state;
    assert_from(AR_LIBRARY_UCC, "alltoall:@pairwise#allreduce:@ring", "ring");
    assert_from(AR_LIBRARY_UCC, "@pairwise:alltoall,alltoallv", "native");
    struct ar_translation t =
        from(AR_LIBRARY_UCC,
             "allreduce:cuda,rocm:@ring#allreduce:host:@knomial#bcast:cuda_managed:@knomial");
    assert_string_equal(t.text, "knomial(radix=4)");
    assert_string_equal(t.notes,
                        "UCC's algorithm for cuda,rocm is left out: rules here are for host "
                        "memory\n");
    ar_translation_fini(&t);
}

/* It then leaves the choice to UCC. */
static void
a_setting_of_ucc_without_an_algorithm_is_native(void **state)
{
    static const char *const settings[] = {"0", "inf", "allreduce:0", "allreduce:cuda:@ring"};
    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        struct ar_translation t = from(AR_LIBRARY_UCC, settings[i]);
        assert_string_equal(t.text, "native");
        assert_non_null(strstr(t.notes, "names no algorithm for allreduces in host memory"));
        ar_translation_fini(&t);
    }
}

static void
a_list_of_nccl_is_one_algorithm_or_what_auto_may_choose(void **state)
{
    (void)state;
    assert_from(AR_LIBRARY_NCCL, "Ring", "ring");
    assert_from(AR_LIBRARY_NCCL, "^tree", "ring");
    assert_from(AR_LIBRARY_NCCL, "ring;allreduce:tree,nvls",
                "double_tree(segment=64K,window=auto)");
    assert_from(AR_LIBRARY_NCCL, "collnetdirect", "native");
    struct ar_translation t = from(AR_LIBRARY_NCCL, "^Ring,Tree");
    assert_string_equal(t.text, "native");
    assert_string_equal(t.notes, "NCCL keeps only algorithms that have no counterpart here\n");
    ar_translation_fini(&t);
    t = from(AR_LIBRARY_NCCL, "tree,ring");
    assert_string_equal(t.text, "auto");
    assert_non_null(strstr(t.notes, "ALLREDUCE_ALGO_LIST=ring,double_tree"));
    ar_translation_fini(&t);
}

/* Wherever the library has the algorithms, the same ones run again. */
static void
there_and_back_the_same_runs(void **state)
{
    static const char text[] = "knomial:0-2K@9-64;rhd:1000-1M@2-inf;native:2M-4M;ring";
    static const enum ar_foreign libraries[] = {AR_LIBRARY_INTEL, AR_LIBRARY_UCC};
    static const size_t sizes[] = {0,       999,           1000,           2048,
                                   2049,    1 << 20,       1048577,        2 << 20,
                                   3 << 20, (4 << 20) + 1, (size_t)1 << 40};
    static const int ranks[] = {1, 2, 8, 9, 64, 65, 4096};
    (void)state;
    for (size_t l = 0; l < 2; l++) {
        struct ar_rules *rules = parse(text);
        struct ar_translation there;
        struct ar_problem problem;
        assert_int_equal(ar_translate_to(&there, libraries[l], rules, &problem), AR_OK);
        struct ar_translation back = from(libraries[l], there.text);
        struct ar_rules *again = parse(back.text);
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            for (size_t k = 0; k < sizeof ranks / sizeof ranks[0]; k++) {
                const char *const a = run(rules, sizes[i], ranks[k]);
                const char *const b = run(again, sizes[i], ranks[k]);
                if (strcmp(a ? a : "native", b ? b : "native") != 0)
                    fail_msg("%zu bytes, %d ranks: %s, then %s by %s", sizes[i], ranks[k], a, b,
                             there.text);
            }
        ar_translation_fini(&back);
        ar_translation_fini(&there);
        ar_rules_destroy(again);
        ar_rules_destroy(rules);
    }
}

static void
a_rules_file_can_be_written(void **state)
{
    static const char text[] = "butterfly:0-8K@2-15;segmented_ring(segment=1M):8K-inf@2-15;circle";
    struct ar_rules *rules = parse(text);
    struct ar_translation file;
    struct ar_problem problem;
    (void)state;
    assert_int_equal(ar_translate_to(&file, AR_LIBRARY_OPENMPI, rules, &problem), AR_OK);
    assert_non_null(strstr(file.notes, "circle(segment=64K,window=auto) has no counterpart"));
    struct ar_translation back = from(AR_LIBRARY_OPENMPI, file.text);
    assert_string_equal(back.text, "native:0-inf@0-1;butterfly:0-8K@2-15;"
                                   "segmented_ring(segment=1M,window=4):8193-inf@2-15;"
                                   "native:0-inf@16-inf");
    ar_translation_fini(&back);
    ar_translation_fini(&file);
    ar_rules_destroy(rules);
}

/* Without a segment Open MPI would run its ring. */
static void
a_segment_is_written_where_open_mpi_takes_one(void **state)
{
    struct ar_rules *rules = parse("segmented_ring:0-4K;ring(segment=32K)");
    struct ar_translation file;
    struct ar_problem problem;
    (void)state;
    assert_int_equal(ar_translate_to(&file, AR_LIBRARY_OPENMPI, rules, &problem), AR_OK);
    assert_non_null(strstr(file.text, "\n0 5 0 65536 # segmented_ring\n4097 4 0 0 # ring\n"));
    assert_null(strstr(file.notes, "segmented_ring(segment=64K,window=4) becomes"));
    assert_non_null(strstr(file.notes, "becomes Open MPI's ring, without its parameters\n"));
    ar_translation_fini(&file);
    ar_rules_destroy(rules);
}

static void
what_cannot_be_said_is_refused(void **state)
{
    static const struct {
        enum ar_foreign library;
        const char *rules;
    } wrong[] = {
        {AR_LIBRARY_UCC, "ring:op=sum"},
        {AR_LIBRARY_MPICH, "ring:0-4K"},
        {AR_LIBRARY_NCCL, "ring;double_tree"},
        {AR_LIBRARY_ONECCL, "ring:0-4K@2"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct ar_rules *rules = parse(wrong[i].rules);
        struct ar_translation t;
        struct ar_problem problem;
        assert_int_equal(ar_translate_to(&t, wrong[i].library, rules, &problem), AR_ERR_SYNTAX);
        assert_non_null(strstr(problem.text, ar_library_titles[wrong[i].library]));
        ar_rules_destroy(rules);
    }
}

static void
a_mistake_is_told_with_its_place(void **state)
{
    static const struct {
        enum ar_foreign library;
        const char *text;
        int line, column;
        const char *says;
    } wrong[] = {
        {AR_LIBRARY_OPENMPI, "fo", 1, 1,
         "no allreduce algorithm 'fo'; allowed: 0 ignore, 1 basic_linear"},
        {AR_LIBRARY_OPENMPI, "1 # n\n2\nx", 3, 1,
         "the number of communicator sizes (a number), found 'x'"},
        {AR_LIBRARY_OPENMPI, "1 2 1 2 2\n0 3 0 0\n", 3, 1, "expected the message size"},
        {AR_LIBRARY_OPENMPI, "1 2 1 2 3\n0 3 0 0\n8 3 0 0\n4 3 0 0", 4, 1, "must ascend"},
        {AR_LIBRARY_OPENMPI, "1 2 1 2 1\n8 3 0 0", 2, 1, "the first message size must be 0, else"},
        {AR_LIBRARY_OPENMPI, "2 7 1 1 1 # bcast\n8 3 0 0\n2 1 1 1 0 3 0 0", 2, 1, "must be 0"},
        {AR_LIBRARY_OPENMPI, "1 2 1 1 1\n0 3 0 08", 2, 7, "segment size (a number), found '08'"},
        {AR_LIBRARY_OPENMPI, "1 22 1 1 1 0 1 0 0", 1, 3, "no collective has the id 22"},
        {AR_LIBRARY_OPENMPI, "1 # of coll_han\nallreduce 1 1 1 1 1 0 tuned", 2, 1,
         "(a number), found 'allreduce'; files of coll_han and other formats are not translated"},
        {AR_LIBRARY_OPENMPI, "1 2 1 0 1 # of coll_han\n1 1 0 4", 2, 1,
         "a file of coll_han, which has 1 here, is not translated"},
        {AR_LIBRARY_OPENMPI, "# of MCA\ncoll_tuned_use_dynamic_rules = 1\n", 2, 1,
         "found 'coll_tuned_use_dynamic_rules'; files of coll_han and other formats"},
        {AR_LIBRARY_OPENMPI, "", 1, 1, "a dynamic rules file, found nothing"},
        {AR_LIBRARY_MPICH, "\n {\"collective=allreduce\": {}}", 2, 2, "found JSON"},
        {AR_LIBRARY_MPICH, "ring\nring", 1, 1, "found several lines"},
        {AR_LIBRARY_UCC, "UCC_TL_UCP_TUNE=inf\n", 1, 1, "UCC_TL_UCP_TUNE, found NAME=VALUE"},
        {AR_LIBRARY_NCCL, "NCCL_ALGO = Ring\n", 1, 1, "NCCL_ALGO, found NAME=VALUE"},
        {AR_LIBRARY_NCCL, " \n", 2, 1, "a value of NCCL_ALGO, found nothing"},
        {AR_LIBRARY_INTEL, "{}", 1, 1, "I_MPI_ADJUST_ALLREDUCE, found JSON"},
        {AR_LIBRARY_OPENMPI, "1 2 2 8 1 0 3 0 0\n8 1 0 3 0 0", 1, 8, "must ascend"},
        {AR_LIBRARY_OPENMPI, "1 2 1 2 1\n0 99 0 0", 2, 3, "no allreduce algorithm '99'"},
        {AR_LIBRARY_OPENMPI, "rule-file-version-0 1", 1, 19, "1 and above"},
        {AR_LIBRARY_UCC, "allreduce:0-4k:@dbtt", 1, 17, "no allreduce algorithm 'dbtt'"},
        {AR_LIBRARY_UCC, "allreduce:4k-1k:@dbt", 1, 11, "expected sizes"},
        {AR_LIBRARY_UCC, "allreduce:[x]:@dbt", 1, 11, "expected ranks"},
        {AR_LIBRARY_UCC, "allreduce:what:@dbt", 1, 11, "expected a collective, sizes, [ranks]"},
        {AR_LIBRARY_UCC, "alreduce:@dbt", 1, 1, "expected a collective, sizes, [ranks]"},
        {AR_LIBRARY_UCC, "bcast,x:@dbt", 1, 1, "expected a collective, sizes, [ranks]"},
        {AR_LIBRARY_NCCL, "ring,rong", 1, 6, "no allreduce algorithm 'rong'"},
        {AR_LIBRARY_ONECCL, "ring:4-x", 1, 6, "expected sizes as in 0-8192"},
        {AR_LIBRARY_ONECCL, "rign", 1, 1, "no allreduce algorithm 'rign'"},
        {AR_LIBRARY_INTEL, "13", 1, 1, "Intel does not document; allowed: 0 (native) to 12; see"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct ar_translation t;
        struct ar_problem problem;
        const int error = ar_translate_from(&t, wrong[i].library, wrong[i].text, 0, &problem);
        if (error != AR_ERR_SYNTAX || problem.line != wrong[i].line ||
            problem.column != wrong[i].column || !strstr(problem.text, wrong[i].says))
            fail_msg("%s: %d, %d:%d: %s", wrong[i].text, error, problem.line, problem.column,
                     problem.text);
    }
}

/* Whoever types a name of ours that means another algorithm elsewhere is told. */
static void
a_name_with_two_meanings_tells_the_other(void **state)
{
    char text[128];
    struct ar_text t;
    (void)state;
    for (size_t i = 0; i < ar_algorithm_count(); i++) {
        const struct ar_algorithm *const row = ar_algorithm_at(i);
        const bool has_two = strcmp(row->name, "reduce_scatter_allgather") == 0;
        ar_text_init(&t, text, sizeof text);
        ar_text_namesakes(&t, row);
        assert_string_equal(text, has_two ? "MPICH's reduce_scatter_allgather is rhd here" : "");
    }
}

/* Each line has one setting, of the value 2 or "1:0-4;2". */
static void
a_setting_is_found_in_any_spelling(void **state)
{
    static const char *const lines[] = {
        "I_MPI_ADJUST_ALLREDUCE=2",
        "I_MPI_ADJUST_ALLREDUCE=1:0-4;2",
        "export I_MPI_ADJUST_ALLREDUCE=2; mpirun ./app",
        "cd x && export I_MPI_ADJUST_ALLREDUCE=1:0-4;2",
        " export I_MPI_ADJUST_ALLREDUCE='1:0-4;2' # why",
        "setenv I_MPI_ADJUST_ALLREDUCE \"2\"",
        "mpirun -x I_MPI_ADJUST_ALLREDUCE=2 ./app",
        "mpirun -x \"I_MPI_ADJUST_ALLREDUCE=1:0-4;2\" ./app",
        "mpiexec -genv I_MPI_ADJUST_ALLREDUCE 2 ./app",
        "mpirun --mca coll_tuned_allreduce_algorithm 2 ./app",
        "mpirun --mca coll_tuned_allreduce_algorithm \\\n  2 ./app",
        "coll_tuned_allreduce_algorithm = 2",
        "pushenv(\"I_MPI_ADJUST_ALLREDUCE\", \"2\")",
        "setenv('NCCL_ALGO','2')",
        "SINGULARITYENV_I_MPI_ADJUST_ALLREDUCE=2 srun ./app",
        "export APPTAINERENV_UCC_TL_UCP_TUNE=2",
        "#SBATCH --export=ALL,I_MPI_ADJUST_ALLREDUCE=2,FOO=3",
        "#PBS -v I_MPI_ADJUST_ALLREDUCE=2",
        "os.environ[\"I_MPI_ADJUST_ALLREDUCE\"] = \"2\"",
        "  CCL_ALLREDUCE: 2",
        "ENV I_MPI_ADJUST_ALLREDUCE 2",
        "args=(--mca coll_tuned_allreduce_algorithm 2)",
        "echo \"don't\"; export I_MPI_ADJUST_ALLREDUCE=2",
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct ar_foreign_settings in = {.text = lines[i], .at = lines[i], .line = 1};
        struct ar_foreign_setting setting;
        char value[16] = "";
        const bool is_found = ar_foreign_setting_next(&in, &setting);
        if (is_found)
            snprintf(value, sizeof value, "%.*s", (int)setting.value.length, setting.value.at);
        if (!is_found || setting.library == AR_LIBRARIES || setting.line != 1 ||
            (strcmp(value, "2") != 0 && strcmp(value, "1:0-4;2") != 0))
            fail_msg("%s: '%s'", lines[i], value);
        if (ar_foreign_setting_next(&in, &setting))
            fail_msg("%s: found again at '%s'", lines[i], setting.name.at);
    }
}

static void
what_sets_nothing_is_no_setting(void **state)
{
    static const char *const lines[] = {
        "# export I_MPI_ADJUST_ALLREDUCE=2",
        "#I_MPI_ADJUST_ALLREDUCE=2",
        "-- setenv(\"NCCL_ALGO\", \"2\")",
        "unset I_MPI_ADJUST_ALLREDUCE",
        "export I_MPI_ADJUST_ALLREDUCE=",
        "mpirun -x I_MPI_ADJUST_ALLREDUCE ./app",
        "echo $I_MPI_ADJUST_ALLREDUCE = 2",
        "x=${I_MPI_ADJUST_ALLREDUCE:-2}",
        "[ I_MPI_ADJUST_ALLREDUCE == 2 ]",
        "export MY_I_MPI_ADJUST_ALLREDUCES=2",
        "export ALLREDUCE_ALGO=ring",
        "ring:0-4;rhd",
        "",
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct ar_foreign_settings in = {.text = lines[i], .at = lines[i], .line = 1};
        struct ar_foreign_setting setting;
        if (ar_foreign_setting_next(&in, &setting) && setting.library < AR_LIBRARIES)
            fail_msg("%s: found %.*s", lines[i], (int)setting.name.length, setting.name.at);
    }
}

static void
a_setting_without_rules_says_why(void **state)
{
    static const char text[] = "\nexport MPIR_CVAR_ALLREDUCE_SHORT_MSG_SIZE=2048 HCOLL_X=1\n"
                               "MY_ALLREDUCE_MODE=3";
    struct ar_foreign_settings in = {.text = text, .at = text, .line = 1};
    struct ar_foreign_setting setting;
    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_true(ar_foreign_setting_next(&in, &setting));
        assert_int_equal(setting.library, AR_LIBRARIES);
        assert_int_equal(setting.line, i < 2 ? 2 : 3);
        assert_non_null(setting.why);
    }
    assert_false(ar_foreign_setting_next(&in, &setting));
}

static void
ranges_of_oneccl_are_clauses(void **state)
{
    (void)state;
    assert_from(AR_LIBRARY_ONECCL, "rabenseifner", "rhd");
    assert_from(AR_LIBRARY_ONECCL, "recursive_doubling:0-8192;2d:8193-1048576;ring:1048577-max",
                "butterfly:0-8K;torus2d:8193-1M;ring:1048577-inf");
    assert_from(AR_LIBRARY_ONECCL, "topo:0-4k;direct", "native:0-4K;native");
}

static void
a_radix_of_ucc_is_that_of_knomial_alone(void **state)
{
    struct ar_translation t;
    struct ar_problem problem;
    (void)state;
    assert_int_equal(
        ar_translate_from(&t, AR_LIBRARY_UCC, "@knomial:0-4k#@sra_knomial", 8, &problem), AR_OK);
    assert_string_equal(t.text, "knomial(radix=8):0-4095;rhd");
    ar_translation_fini(&t);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_has_a_counterpart_has_one_that_parses),
        cmocka_unit_test(an_id_of_intel_mpi_is_what_the_table_says),
        cmocka_unit_test(parameters_tell_which_id_is_meant),
        cmocka_unit_test(a_name_or_an_id_is_the_algorithm_for_all_sizes),
        cmocka_unit_test(a_rules_file_chooses_as_open_mpi_does),
        cmocka_unit_test(a_rule_has_a_count_of_requests_or_none),
        cmocka_unit_test(what_open_mpi_does_not_read_is_left_out),
#ifndef AR_WITHOUT_JANSSON
        cmocka_unit_test(json_rules_match_first_come_first_served),
        cmocka_unit_test(each_json_key_is_noted_as_it_prints),
        cmocka_unit_test(a_json_rule_overrides_what_holds_for_the_file),
        cmocka_unit_test(a_mistake_in_json_is_told_with_its_key),
#endif
        cmocka_unit_test(tokens_of_ucc_are_clauses),
        cmocka_unit_test(tokens_of_ucc_about_something_else_are_left_out),
        cmocka_unit_test(a_setting_of_ucc_without_an_algorithm_is_native),
        cmocka_unit_test(a_list_of_nccl_is_one_algorithm_or_what_auto_may_choose),
        cmocka_unit_test(there_and_back_the_same_runs),
        cmocka_unit_test(a_rules_file_can_be_written),
        cmocka_unit_test(a_segment_is_written_where_open_mpi_takes_one),
        cmocka_unit_test(what_cannot_be_said_is_refused),
        cmocka_unit_test(a_mistake_is_told_with_its_place),
        cmocka_unit_test(a_name_with_two_meanings_tells_the_other),
        cmocka_unit_test(a_setting_is_found_in_any_spelling),
        cmocka_unit_test(what_sets_nothing_is_no_setting),
        cmocka_unit_test(a_setting_without_rules_says_why),
        cmocka_unit_test(ranges_of_oneccl_are_clauses),
        cmocka_unit_test(a_radix_of_ucc_is_that_of_knomial_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
