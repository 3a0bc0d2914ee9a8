/* The grammar of ALLREDUCE_ALGO: what it takes, what it refuses and how it says
 * so, and what auto makes of it. */
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/files.h"
#include "select/names.h"
#include "select/select.h"
#include "select/traits.h"
#include "unit.h"

static struct ar_rules *
parsed(const char *text, bool lines)
{
    struct ar_rules *rules = NULL;
    struct ar_problem problem;
    const int error = lines ? ar_rules_parse_lines(&rules, text, &problem)
                            : ar_rules_parse(&rules, text, &problem);
    if (error)
        fail_msg("\"%s\": %d:%d: %s", text, problem.line, problem.column, problem.text);
    return rules;
}

/* What the text chooses, "none" if no clause matches. */
static void
assert_chooses(const char *text, size_t bytes, int nranks, const char *choice)
{
    char printed[AR_CHOICE_TEXT] = "none";
    struct ar_rules *rules = parsed(text, false);
    const struct ar_request request = {.bytes = bytes, .nranks = nranks};
    const struct ar_clause *match = ar_rules_match(rules, &request);
    if (match)
        ar_choice_print(&match->choice, printed, sizeof printed);
    assert_string_equal(printed, choice);
    ar_rules_destroy(rules);
}

static void
assert_canonical(const char *text, bool lines, const char *canonical)
{
    struct ar_rules *rules = parsed(text, lines);
    char *printed = ar_rules_text(rules);
    assert_non_null(printed);
    assert_string_equal(printed, canonical);
    free(printed);
    ar_rules_destroy(rules);
}

static struct ar_problem
problem_of(bool lines, const char *text)
{
    struct ar_rules *rules = NULL;
    struct ar_problem problem = {0, 0, ""};
    const int error = lines ? ar_rules_parse_lines(&rules, text, &problem)
                            : ar_rules_parse(&rules, text, &problem);
    if (error != AR_ERR_SYNTAX || rules)
        fail_msg("\"%s\" was taken", text);
    return problem;
}

static void
assert_refused_in(bool lines, const char *text, int line, int column, const char *words)
{
    const struct ar_problem problem = problem_of(lines, text);
    if (problem.line != line || problem.column != column || !strstr(problem.text, words))
        fail_msg("\"%s\" gave %d:%d: %s", text, problem.line, problem.column, problem.text);
}

static void
assert_refused(const char *text, int column, const char *words)
{
    assert_refused_in(false, text, 1, column, words);
}

static void
assert_refused_without(const char *text, const char *words)
{
    const struct ar_problem problem = problem_of(false, text);
    if (strstr(problem.text, words))
        fail_msg("\"%s\" gave %s", text, problem.text);
}

static void
names_of_the_registry_are_taken(void **state)
{
    (void)state;
    for (size_t i = 0; i < ar_algorithm_count(); i++) {
        const struct ar_algorithm *row = ar_algorithm_at(i);
        struct ar_rules *rules = parsed(row->name, false);
        const struct ar_choice *choice = &rules->clauses[0].choice;
        assert_int_equal(choice->kind, AR_CHOICE_ALGORITHM);
        assert_ptr_equal(choice->algorithm, row);
        ar_rules_destroy(rules);
    }
}

static void
case_minus_and_aliases_do_not_matter(void **state)
{
    (void)state;
    assert_chooses("RING", 8, 2, "ring");
    assert_chooses(" Recursive-Doubling ", 8, 2, "butterfly");
    assert_chooses("recursive_doubling", 8, 2, "butterfly");
    assert_chooses("Native", 8, 2, "native");
    assert_chooses("AUTO", 8, 2, "auto");
}

static void
intel_ids_mean_intels_algorithms(void **state)
{
    (void)state;
    assert_chooses("0", 8, 2, "native");
    assert_chooses("1", 8, 2, "butterfly");
    assert_chooses("8", 8, 2, "ring");
    assert_chooses("1:0-1024@8-16,2048;8:65536-inf;0", 1024, 8, "butterfly");
    assert_chooses("1:0-1024@8-16,2048;8:65536-inf;0", 1024, 7, "native");
    assert_chooses("1:0-1024@8-16,2048;8:65536-inf;0", 2048, 7, "butterfly");
    assert_chooses("1:0-1024@8-16,2048;8:65536-inf;0", 2049, 8, "native");
    assert_chooses("1:0-1024@8-16,2048;8:65536-inf;0", 65536, 100000, "ring");
    assert_chooses("1:0-2147483647@1-2147483647", 1 << 20, 64, "butterfly");
}

static void
every_intel_id_is_a_row(void **state)
{
    (void)state;
    for (int id = 1; id <= AR_INTEL_ID_MAX; id++) {
        char text[32];
        snprintf(text, sizeof text, "0:8;%d:16-inf", id);
        struct ar_rules *rules = parsed(text, false);
        assert_non_null(rules->clauses[1].choice.algorithm);
        assert_int_equal(rules->nclauses, id < 10 ? 2 : 3);
        ar_rules_destroy(rules);
    }
    assert_refused("13", 1, "unknown Intel id '13'");
    assert_refused("99999999999999999999", 1, "unknown Intel id");
    assert_refused("32", 1,
                   ", whose algorithm Intel does not document; allowed: 0 (native) to 12; see");
}

/* Ids 10 to 12: shared memory where that is all there is, and a tree across nodes. */
static void
ids_of_shared_memory_have_a_form_for_one_node(void **state)
{
    static const struct {
        const char *text, *means;
    } ids[] = {
        {"10", "shm:nodes=1;two_level(inter=star,lanes=one)"},
        {"11:8,16-32@4", "shm:8,16-32@4,nodes=1;two_level(inter=knomial,lanes=one):8,16-32@4"},
        {"1:0-4;12:8-inf,op=sum;8", "butterfly:0-4;shm:8-inf,op=sum,nodes=1;"
                                    "two_level(inter=knary,lanes=one):8-inf,op=sum;ring"},
        {"12:nodes=2-8", "two_level(inter=knary,lanes=one):nodes=2-8"},
        {"12:nodes=1-8", "shm:nodes=1;two_level(inter=knary,lanes=one):nodes=1-8"},
        {"12(lanes=all)", "shm:nodes=1;two_level(inter=knary,lanes=all)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        struct ar_rules *rules = parsed(ids[i].text, false);
        char *const text = ar_rules_text(rules);
        assert_string_equal(text, ids[i].means);
        free(text);
        ar_rules_destroy(rules);
    }
}

static void
bounds_are_inclusive_and_the_first_match_wins(void **state)
{
    (void)state;
    const char *text = "butterfly:0-8K;ring:8K-1M@3-5,2M;native:inf-inf";
    assert_refused(text, 41, "a range cannot begin at inf");
    text = "butterfly:0-8K;ring:8K-1M@3-5,2M";
    assert_chooses(text, 0, 4, "butterfly");
    assert_chooses(text, 8192, 4, "butterfly");
    assert_chooses(text, 8193, 4, "ring");
    assert_chooses(text, 8193, 2, "none");
    assert_chooses(text, 8193, 3, "ring");
    assert_chooses(text, 8193, 5, "ring");
    assert_chooses(text, 8193, 6, "none");
    assert_chooses(text, 1 << 20, 4, "ring");
    assert_chooses(text, (1 << 20) + 1, 4, "none");
    assert_chooses(text, 2 << 20, 100, "ring");
    assert_chooses("ring:8-inf@4-max", SIZE_MAX, 4, "ring");
    assert_chooses("ring:8-inf@4-max", SIZE_MAX, 3, "none");
    assert_chooses("ring:16@4", 16, 4, "ring");
    assert_chooses("ring:16@4", 16, 5, "none");
}

static void
empty_clauses_and_blanks_say_nothing(void **state)
{
    (void)state;
    assert_canonical("", false, "");
    assert_canonical("  \t\n ", false, "");
    assert_canonical(" ; ;", false, "");
    assert_canonical(" ring : 8 - 1k @ 2 - 4 , 1m ;; butterfly: ; ", false,
                     "ring:8-1K@2-4,1M;butterfly");
    assert_canonical("ring ( segment = 64k , window = 4 )", false, "ring(segment=64K,window=4)");
}

static void
canonical_text_has_names_and_full_parameters(void **state)
{
    (void)state;
    assert_canonical("1:0-1024;8;0;auto", false, "butterfly:0-1K;ring;native;auto");
    assert_canonical("circle(window=AUTO,segment=8)", false, "circle(segment=8,window=auto)");
    assert_canonical("circle(window=1,segment=N/20)", false, "circle(segment=n/20,window=1)");
    assert_canonical("ring(segment=n/1)", false, "ring(segment=n/1)");
    assert_canonical("star(root=1,segment=n/1000000,window=2)", false,
                     "star(root=1,segment=n/1000000,window=2)");
    assert_canonical("ring(segment=inf,window=1):0-inf@0-inf", false, "ring:0-inf");
    assert_canonical("ring:5-5@7-7,0@2-inf", false, "ring:5@7,0@2-inf");
    assert_canonical("ring:0-inf@1024", false, "ring:0-inf@1024");
}

static void
clauses_keep_their_place_and_conditions(void **state)
{
    (void)state;
    struct ar_rules *rules = parsed("# heading\n ring:8-16@2,1K\n\nbutterfly; native\n", true);
    const struct ar_clause *const clauses = rules->clauses;
    const struct ar_condition *const conditions = clauses[0].conditions;

    assert_int_equal(rules->nclauses, 3);
    assert_int_equal(clauses[0].nconditions, 2);
    assert_int_equal(conditions[0].bytes_min, 8);
    assert_int_equal(conditions[0].bytes_max, 16);
    assert_int_equal(conditions[0].ranks_min, 2);
    assert_int_equal(conditions[0].ranks_max, 2);
    assert_int_equal(conditions[1].bytes_min, 1024);
    assert_true(conditions[1].ranks_max == SIZE_MAX);
    assert_int_equal(clauses[1].nconditions, 0);
    assert_int_equal(clauses[0].line, 2);
    assert_int_equal(clauses[0].column, 2);
    assert_int_equal(clauses[2].line, 4);
    assert_int_equal(clauses[2].column, 12);
    assert_int_equal(clauses[2].choice.kind, AR_CHOICE_NATIVE);
    assert_ptr_equal(ar_rules_match(rules, &(struct ar_request){.bytes = 9, .nranks = 2}),
                     &clauses[0]);
    assert_ptr_equal(ar_rules_match(rules, &(struct ar_request){.bytes = 9, .nranks = 3}),
                     &clauses[1]);
    ar_rules_destroy(rules);
}

/* Does the clause match an 8-byte call on 4 ranks with these traits? */
static bool
takes(const char *clause, struct ar_request request)
{
    struct ar_rules *rules = parsed(clause, false);
    request.bytes = 8;
    request.nranks = 4;
    const bool takes = ar_rules_match(rules, &request) != NULL;
    ar_rules_destroy(rules);
    return takes;
}

static void
a_clause_asks_for_traits_beside_sizes(void **state)
{
    (void)state;
    const struct ar_request sum = {.op = AR_SUM, .type = AR_TYPE_FLOAT};
    assert_true(takes("ring:op=sum", sum));
    assert_true(takes("ring:op=max|sum,type=float", sum));
    assert_true(takes("ring:op=MPI_MAX|MPI_SUM,type=MPI_DOUBLE|mpi_float", sum));
    assert_false(takes("ring:op=max|min", sum));
    assert_false(takes("ring:op=sum,type=double", sum));
    assert_true(takes("ring:0-8,op=sum,16-32", sum));
    assert_false(takes("ring:op=sum,16-32", sum));
    assert_true(takes("ring:8@4,op=sum", sum));
    assert_false(takes("ring:8@5,op=sum", sum));
    assert_true(takes("ring:op=user", (struct ar_request){.op = AR_OPS}));
    assert_true(takes("ring:inplace=no", sum));
    assert_true(takes("ring:inplace=yes", (struct ar_request){.place = AR_IN_PLACE}));
    assert_false(takes("ring:inplace=yes", sum));
}

static void
nodes_are_a_number_or_a_range(void **state)
{
    (void)state;
    const struct ar_request four = {.nodes = 2, .per_node = 3};
    assert_true(takes("ring:nodes=2", four));
    assert_true(takes("ring:nodes=2-inf,ppn=1-3", four));
    assert_false(takes("ring:nodes=3-inf", four));
    assert_false(takes("ring:nodes=2,ppn=4-8", four));
    assert_false(takes("ring:nodes=1-inf", (struct ar_request){.nodes = 0}));
}

static void
a_block_is_the_bytes_for_each_rank_rounded_up(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t bytes;
        bool takes;
    } cases[] = {{"ring:block=1025", 4097, true},         {"ring:block=1K-2K", 4097, true},
                 {"ring:block=0-1K", 4097, false},        {"ring:block=0-1K", 4096, true},
                 {"ring:block=0-inf,8K-16K", 9000, true}, {"ring:block=0-inf,8K-16K", 4096, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ar_rules *const rules = parsed(cases[i].text, false);
        const struct ar_request request = {.bytes = cases[i].bytes, .nranks = 4};
        assert_int_equal(ar_rules_match(rules, &request) != NULL, cases[i].takes);
        ar_rules_destroy(rules);
    }
}

static void
an_op_commutes_or_does_not(void **state)
{
    (void)state;
    const struct ar_request commutes = {.commutative = true}, fixed = {.commutative = false};
    assert_true(takes("ring:commutes=yes", commutes) && !takes("ring:commutes=yes", fixed));
    assert_true(takes("ring:commutes=no", fixed) && !takes("ring:commutes=no", commutes));
}

/* --- the rules that ship --- */

static struct ar_rules *
read_shipped(const char *name)
{
    char path[4096], reason[1024];
    struct ar_text why;
    struct ar_rules *rules = NULL;
    ar_text_init(&why, reason, sizeof reason);
    snprintf(path, sizeof path, "%s/rules/%s", getenv("srcdir") ? getenv("srcdir") : ".", name);
    if (ar_rules_file_read(&rules, NULL, path, &why))
        fail_msg("%s", reason);
    return rules;
}

static const char *
openmpi_4_0_runs(size_t count, size_t size, const struct ar_request *r)
{
    const size_t p = (size_t)r->nranks, bytes = count * size;
    if (bytes < 10000)
        return "butterfly";
    if (!r->commutative || count <= p)
        return "reduce_bcast";
    return bytes <= p << 20 ? "ring" : "segmented_ring";
}

/* The largest power of two that is not above the number of ranks. */
static size_t
power_of(const struct ar_request *r)
{
    size_t power = 1;
    while (2 * power <= (size_t)r->nranks)
        power *= 2;
    return power;
}

static const char *
mpich_3_3_runs(size_t count, size_t size, const struct ar_request *r)
{
    return count * size <= 2048 || count < power_of(r) || r->op == AR_OPS ? "butterfly" : "rhd";
}

static const char *
mpich_runs(size_t count, size_t size, const struct ar_request *r)
{
    const bool doubling = count * size <= 8 || count < power_of(r) || r->op == AR_OPS;
    return doubling ? "butterfly" : "rhd";
}

/* A row of Open MPI's table: up to so many ranks, up to "below" bytes, an algorithm by its number
 * there. */
struct fixed_row {
    int ranks;
    struct {
        size_t below;
        int algorithm;
    } sizes[7];
};
#define ANY SIZE_MAX

static const struct fixed_row openmpi_commuting[] = {
    {3, {{8, 4}, {4096, 3}, {8192, 4}, {16384, 3}, {65536, 4}, {262144, 5}, {ANY, 6}}},
    {7, {{16, 4}, {8192, 3}, {ANY, 6}}},
    {15, {{8192, 3}, {ANY, 6}}},
    {31, {{64, 5}, {4096, 3}, {ANY, 6}}},
    {63, {{128, 5}, {ANY, 6}}},
    {127, {{262144, 3}, {ANY, 6}}},
    {255, {{131072, 2}, {262144, 3}, {ANY, 6}}},
    {511, {{4096, 2}, {ANY, 6}}},
    {2047, {{2048, 2}, {16384, 3}, {ANY, 6}}},
    {4095, {{2048, 2}, {4096, 5}, {16384, 3}, {ANY, 6}}},
    {INT_MAX, {{2048, 2}, {16384, 5}, {32768, 3}, {ANY, 6}}}};

static const struct fixed_row openmpi_in_order[] = {{3, {{131072, 3}, {ANY, 1}}},
                                                    {7, {{ANY, 3}}},
                                                    {15, {{1048576, 3}, {ANY, 2}}},
                                                    {127, {{ANY, 3}}},
                                                    {255, {{131072, 2}, {524288, 3}, {ANY, 2}}},
                                                    {511, {{4096, 2}, {524288, 3}, {ANY, 2}}},
                                                    {INT_MAX, {{2048, 2}, {ANY, 3}}}};

static const char *
openmpi_runs(size_t count, size_t size, const struct ar_request *r)
{
    static const char *const names[] = {NULL,   "star", "reduce_bcast", "butterfly",
                                        "ring", "ring", "rhd"};
    const struct fixed_row *row = r->commutative ? openmpi_commuting : openmpi_in_order;
    while (r->nranks > row->ranks)
        row++;
    size_t i = 0;
    while (count * size >= row->sizes[i].below)
        i++;
    const char *const name = names[row->sizes[i].algorithm];
    if (strcmp(name, "ring") == 0 && count < (size_t)r->nranks)
        return "butterfly";
    return strcmp(name, "rhd") == 0 && count < power_of(r) ? "star" : name;
}

static void
holds(const char *file, const char *(*formula)(size_t, size_t, const struct ar_request *))
{
    static const int ranks[] = {2,   3,    4,    7,    8,    16,   32,    63,    64,   128,
                                511, 1024, 1500, 2500, 5000, 9000, 20000, 40000, 70000};
    struct ar_rules *const rules = read_shipped(file);
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++)
        for (size_t count = 1; count < (size_t)1 << 28; count += count / 7 + 1)
            for (int k = 0; k < 8; k++) {
                const size_t size = k & 1 ? 8 : 4;
                const struct ar_request request = {.bytes = count * size,
                                                   .nranks = ranks[i],
                                                   .commutative = !(k & 2),
                                                   .op = k & 4 ? AR_OPS : AR_SUM,
                                                   .type = k & 1 ? AR_TYPE_DOUBLE : AR_TYPE_FLOAT};
                const struct ar_clause *const clause = ar_rules_match(rules, &request);
                const char *const expected = formula(count, size, &request);
                assert_non_null(clause);
                if (clause->choice.algorithm != ar_algorithm_find(expected, strlen(expected)))
                    fail_msg("%s: %zu elements of %zu bytes on %d ranks: %s, not %s", file, count,
                             size, ranks[i], clause->choice.algorithm->name, expected);
            }
    ar_rules_destroy(rules);
}

static void
rules_that_ship_choose_as_their_libraries_do(void **state)
{
    (void)state;
    holds("openmpi.rules", openmpi_runs);
    holds("openmpi-4.0.rules", openmpi_4_0_runs);
    holds("mpich.rules", mpich_runs);
    holds("mpich-3.3.rules", mpich_3_3_runs);
}

static void
names_of_communicators_match_patterns(void **state)
{
    (void)state;
    const struct ar_request world = {.comm = "MPI_COMM_WORLD"};
    assert_true(takes("ring:comm=mpi-comm-world", world));
    assert_true(takes("ring:comm=*world*", world));
    assert_true(takes("ring:comm=row_?|*world", world));
    assert_false(takes("ring:comm=world", world));
    assert_false(takes("ring:comm=*world?", world));
    assert_true(takes("ring:comm=row?1*", (struct ar_request){.comm = "Row 17"}));
    assert_true(takes("ring:comm=*", (struct ar_request){.comm = ""}));
    assert_false(takes("ring:comm=*", (struct ar_request){.comm = NULL}));
}

/* Every text of up to five letters of "ab*?" as pattern and of up to five of "ab" as name. */
static void
patterns_match_what_fnmatch_matches(void **state)
{
    (void)state;
    char pattern[6], name[6];
    for (int p = 0; p < 1 << 10; p++)
        for (int length = 0; length <= 5; length++)
            for (int n = 0; n < 1 << 5; n++) {
                for (int i = 0; i < 5; i++) {
                    pattern[i] = "ab*?"[p >> (2 * i) & 3];
                    name[i] = "ab"[n >> i & 1];
                }
                pattern[length] = name[5] = '\0';
                for (const char *at = name + 5; at >= name; at--)
                    assert_int_equal(ar_pattern_matches(ar_word_of(pattern), at),
                                     fnmatch(pattern, at, 0) == 0);
            }
}

/* By trying all that each star might stand for, this would not end. */
static void
many_stars_take_no_longer_than_few(void **state)
{
    (void)state;
    char pattern[AR_COMM_TEXT] = "", name[AR_COMM_TEXT] = "";
    memset(pattern, '*', sizeof pattern - 2);
    pattern[sizeof pattern - 2] = 'b';
    memset(name, 'a', sizeof name - 1);
    assert_false(ar_pattern_matches(ar_word_of(pattern), name));
    name[sizeof name - 2] = 'b';
    assert_true(ar_pattern_matches(ar_word_of(pattern), name));
}

static void
traits_are_printed_as_they_are_read(void **state)
{
    (void)state;
    assert_canonical("ring : OP = max|sum , 8 , Type=double", false,
                     "ring:8,op=sum|max,type=double");
    assert_canonical("ring:comm=row_*|col?,nodes=2-inf,ppn=1-4,inplace=yes|no", false,
                     "ring:inplace=no|yes,nodes=2-inf,ppn=1-4,comm=row_*|col?");
    assert_canonical("ring:Block=1024-inf,commutes=yes;ring:block=0-7", false,
                     "ring:commutes=yes,block=1K-inf;ring:block=0-7");
}

static void
wrong_traits_are_told(void **state)
{
    (void)state;
    assert_refused("ring:op=summe", 9, "op cannot be 'summe'; allowed: sum, prod");
    assert_refused("ring:op=sum|", 9, "op cannot be 'sum|'");
    assert_refused("ring:type=MPI_INTEGER", 11, "type cannot be 'MPI_INTEGER'");
    assert_refused("ring:inplace=MPI_yes", 14, "inplace cannot be 'MPI_yes'");
    assert_refused("ring:typ=float", 6, "unknown condition 'typ' (did you mean 'type'?)");
    assert_refused("ring:op=sum,op=max", 13, "condition 'op' is given twice");
    assert_refused("ring:nodes=3-2", 12,
                   "nodes cannot be '3-2'; allowed: a number from 1 on, or a range");
    assert_refused("ring:nodes=0", 12, "nodes cannot be '0'");
    assert_refused("ring:ppn=0-4", 10, "ppn cannot be '0-4'");
    assert_refused("ring:nodes=inf", 12, "nodes cannot be 'inf'");
    assert_refused("ring:nodes=1-", 12, "nodes cannot be '1-'");
    assert_refused("ring:block=2K-1K", 12,
                   "block cannot be '2K-1K'; allowed: a number of bytes, or a range");
    assert_refused("ring:block=inf", 12, "block cannot be 'inf'");
    assert_refused("ring:block=-8", 12, "block cannot be '-8'");
    assert_refused("ring:commutes=maybe", 15, "commutes cannot be 'maybe'; allowed: no, yes");
    assert_refused("ring:op=", 9, "expected a value, found the end");
    assert_refused("ring:op=sum 8", 13, "expected ',', ';' or the end after the value");
}

static void
a_rules_file_has_lines_and_comments(void **state)
{
    (void)state;
    assert_canonical("", true, "");
    assert_canonical("# nothing", true, "");
    assert_canonical("\r\n\r\nring:8 # short\r\nbutterfly ; native\r\n#end", true,
                     "ring:8;butterfly;native");
    assert_refused_in(true, "ring\r\n  # x\r\n  rign", 3, 3, "did you mean 'ring'?");
    assert_refused_in(true, "ring:8-\nbutterfly", 1, 8, "found the end of the line");
    assert_refused_in(true, "ring(window=2\n)", 1, 14, "found the end of the line");
    assert_refused_in(true, "ring\nring butterfly", 2, 6, "found 'butterfly'");
}

static void
unknown_names_are_refused_with_what_is_near(void **state)
{
    (void)state;
    assert_refused("rign", 1,
                   "unknown algorithm 'rign' (did you mean 'ring'?); see allreduce list");
    assert_refused("ring; buterfly", 7, "did you mean 'butterfly'?");
    assert_refused("recursive-dubling", 1, "did you mean 'recursive_doubling'?");
    assert_refused("butter", 1, "did you mean 'butterfly'?");
    assert_refused("nativ", 1, "did you mean 'native'?");
    assert_refused("xyzzyx", 1, "unknown algorithm 'xyzzyx'; see allreduce list");
    assert_refused("rhx", 1, "did you mean 'rhd'?");
    assert_refused("foo", 1, "unknown algorithm 'foo'; see allreduce list");
    assert_refused("basic_linear", 1, "'basic_linear'; Open MPI's basic_linear is star here; see");
    assert_refused("nvls", 1, "NCCL's nvls has no counterpart: it reduces inside");
    assert_refused("ring\x01", 5, "\\x01");
    assert_refused("ring:0\xE2\x80\x93"
                   "8",
                   7, "found '\xE2\x80\x93' (this dash is not '-')");
    assert_refused("ring:0\xE2\x80", 7, "found '\\xE2'");
    assert_refused("ring:0\xC2\x9B", 7, "found '\\xC2'");
}

static void
refusals_point_at_the_token(void **state)
{
    (void)state;
    assert_refused("ring,butterfly", 5, "found ','");
    assert_refused("ring 8", 6, "expected '(', ':', ';' or the end after the algorithm");
    assert_refused("ring(window=2) 8", 16, "after the parameters, found '8'");
    assert_refused(":8", 1, "expected an algorithm, found ':'");
    assert_refused("ring:@4", 6, "expected a size (0-inf for any), found '@'");
    assert_refused("ring:8,", 8, "expected a size");
    assert_refused("ring:8@", 8, "expected a number of ranks");
    assert_refused("ring:8-4", 8, "ends below its start");
    assert_refused("ring:0-8@9-3", 12, "ends below its start");
    assert_refused("ring:64 K", 9, "found 'K'");
    assert_refused("ring:64x", 6, "'64x' is not a size");
    assert_refused("ring:1.5K", 6, "'1.5K' is not a size");
    assert_refused("ring:99999999999999999999", 6, "is too large for a size");
    assert_refused("ring:0-17179869184G", 8, "is too large for a size");
    assert_refused("ring:8@4K", 8, "'4K' is not a number of ranks");
    assert_refused("ring:8@4-99999999999999999999", 10, "too large for a number of ranks");
    assert_refused("ring:8@4@4", 9, "after the ranks, found '@'");
    assert_refused("ring:8 9", 8, "after the size, found '9'");
    assert_refused("ring # no comment here", 6, "found '#'");
}

static void
parameters_are_refused_with_what_the_row_takes(void **state)
{
    (void)state;
    assert_refused("native(root=1)", 7, "native takes no parameters");
    assert_refused("auto (root=1)", 6, "auto takes no parameters");
    assert_refused("0(segment=1)", 2, "native takes no parameters");
    assert_refused("butterfly(radix=3)", 11, "butterfly has no parameter 'radix'");
    assert_refused("butterfly(radix=3)", 11, "allowed: exchange, unpaired, segment, window");
    assert_refused("ring(segmet=3)", 6, "did you mean 'segment'?");
    assert_refused("ring(segment=8,segment=8)", 16, "is given twice");
    assert_refused("ring(window=0)", 13,
                   "window cannot be '0'; allowed: auto, or a whole number from 1");
    assert_refused("ring(window=257)", 13, "from 1 to 256");
    assert_refused("ring(window=-1)", 13, "window cannot be '-1'");
    assert_refused("ring(segment=64X)", 14, "segment cannot be '64X'; allowed: bytes");
    assert_refused("ring(segment=n/0)", 14, "'n/0'; allowed: bytes");
    assert_refused("ring(segment=n/x)", 14, "n/1 to n/1000000 for that many segments");
    assert_refused("ring(segment=n/1000001)", 14, "segment cannot be 'n/1000001'");
    assert_refused("ring(segment=n/)", 14, "segment cannot be 'n/'");
    assert_refused("ring(segment=n/4/2)", 14, "segment cannot be 'n/4/2'");
    assert_refused("ring(segment=2/4)", 14, "segment cannot be '2/4'");
    assert_refused("ring(window=n/4)", 13, "window cannot be 'n/4'");
    assert_refused("ring(segment=99999999999999999999)", 14, "segment cannot be");
    assert_refused("ring()", 6, "expected a parameter's name, found ')'");
    assert_refused("ring(window)", 12, "expected '='");
    assert_refused("ring(window=)", 13, "expected a value, found ')'");
    assert_refused("ring(window=2", 14, "found the end of the text");
    assert_refused("ring(window=2;", 14, "expected ',' or ')' after the parameter, found ';'");
}

/* A row that takes everything, in nobody's registry. */
static const struct ar_algorithm every = {
    .name = "every",
    .aliases = "",
    .takes = AR_TAKES_ROOT | AR_TAKES_RADIX | AR_TAKES_DIMS | AR_TAKES_BROADCAST |
             AR_TAKES_ALLGATHER | AR_TAKES_REDUCE_SCATTER | AR_TAKES_WHOLE | AR_TAKES_INTER |
             AR_TAKES_LANES | AR_TAKES_HALVINGS | AR_TAKES_EXCHANGE | AR_TAKES_DISTANCE |
             AR_TAKES_UNPAIRED | AR_TAKES_INTRA | AR_TAKES_SERVE | AR_TAKES_ORDER |
             AR_TAKES_LEVELS | AR_TAKES_COPY,
    .defaults = {.radix = 2, .window = 1},
};

static struct ar_word
word_of(const char *text)
{
    return (struct ar_word){text, strlen(text)};
}

/* Sets one parameter of a row that takes all, from its defaults, and prints. */
static const char *
set_and_print(const char *name, const char *value)
{
    static char text[AR_CHOICE_TEXT];
    char reason[AR_PROBLEM_TEXT];
    struct ar_text why;
    struct ar_choice choice = ar_choice_default(&every);
    unsigned seen = 0;
    ar_text_init(&why, reason, sizeof reason);
    if (ar_params_set(&choice.params, &seen, &every, word_of(name), word_of(value), &why))
        return NULL;
    return ar_choice_print(&choice, text, sizeof text);
}

static void
every_parameter_is_read_and_printed(void **state)
{
    (void)state;
#define LEVELS ",inter=circulant,lanes=all"
#define TAIL   "broadcast=flat,allgather=ring,reduce_scatter=pairwise" LEVELS
    assert_string_equal(set_and_print("root", "7"), "every(root=7,radix=2," TAIL ")");
    assert_string_equal(set_and_print("Radix", "4"), "every(root=0,radix=4," TAIL ")");
    assert_string_equal(set_and_print("dims", "2x3X4"),
                        "every(root=0,radix=2,dims=2x3x4," TAIL ")");
    assert_string_equal(set_and_print("dims", "auto"), "every(root=0,radix=2," TAIL ")");
    assert_string_equal(set_and_print("segment", "96KiB"),
                        "every(root=0,radix=2," TAIL ",segment=96K)");
    assert_string_equal(set_and_print("whole", "8K"), "every(root=0,radix=2," TAIL ",whole=8K)");
    assert_string_equal(set_and_print("whole", "inf"), "every(root=0,radix=2," TAIL ",whole=inf)");
    assert_string_equal(set_and_print("segment", "inf"), "every(root=0,radix=2," TAIL ")");
    assert_string_equal(set_and_print("exchange", "whole"), "every(root=0,radix=2," TAIL ")");
    assert_string_equal(set_and_print("window", "64"), "every(root=0,radix=2," TAIL ",window=64)");
    assert_string_equal(set_and_print("broadcast", "Scatter-Allgather"),
                        "every(root=0,radix=2,broadcast=scatter_allgather,allgather=ring,"
                        "reduce_scatter=pairwise" LEVELS ")");
    assert_string_equal(set_and_print("allgather", "bruck"),
                        "every(root=0,radix=2,broadcast=flat,allgather=bruck,"
                        "reduce_scatter=pairwise" LEVELS ")");
    assert_string_equal(set_and_print("reduce-scatter", "halving"),
                        "every(root=0,radix=2,broadcast=flat,allgather=ring,"
                        "reduce_scatter=halving" LEVELS ")");
    assert_non_null(strstr(set_and_print("inter", "Rabenseifner"), ",inter=rhd,"));
    assert_non_null(strstr(set_and_print("inter", "Recursive-Doubling"), ",inter=butterfly,"));
    assert_non_null(strstr(set_and_print("lanes", "ONE"), ",lanes=one)"));
    assert_non_null(strstr(set_and_print("lanes", "1"), ",lanes=one)"));
    assert_non_null(strstr(set_and_print("lanes", "3"), ",lanes=3)"));
    assert_non_null(strstr(set_and_print("lanes", "all"), ",lanes=all)"));
    assert_null(set_and_print("lanes", "0"));
    assert_non_null(strstr(set_and_print("halvings", "1"), ",halvings=one)"));
    assert_non_null(strstr(set_and_print("halvings", "3"), ",halvings=3)"));
    assert_null(strstr(set_and_print("halvings", "all"), "halvings"));
    assert_non_null(strstr(set_and_print("exchange", "halves"), ",exchange=halves,"));
    assert_non_null(strstr(set_and_print("distance", "halving"), ",distance=halving,"));
    assert_non_null(strstr(set_and_print("unpaired", "copy"), ",unpaired=copy,"));
    assert_non_null(strstr(set_and_print("intra", "flat"), ",intra=flat,"));
    assert_non_null(strstr(set_and_print("serve", "one_by_one"), ",serve=one_by_one,"));
    assert_null(strstr(set_and_print("serve", "together"), "serve"));
    assert_non_null(
        strstr(set_and_print("broadcast", "scatter-doubling"), "broadcast=scatter_doubling,"));
    assert_non_null(strstr(set_and_print("order", "node"), ",order=node,"));
    assert_null(strstr(set_and_print("order", "rank"), "order"));
    assert_null(set_and_print("order", "nodes"));
    assert_null(set_and_print("halvings", "0"));
    assert_null(set_and_print("lanes", "none"));
    assert_null(set_and_print("inter", "native"));
    assert_non_null(strstr(set_and_print("levels", "flat"), ",levels=flat)"));
    assert_non_null(strstr(set_and_print("levels", "4+16"), ",levels=4+16)"));
    assert_non_null(strstr(set_and_print("levels", "Socket+L3"), ",levels=socket+l3)"));
    assert_non_null(strstr(set_and_print("levels", "2+8+numa+socket"), ",levels=2+8+numa+socket)"));
    assert_null(strstr(set_and_print("levels", "auto"), "levels"));
    assert_non_null(strstr(set_and_print("copy", "slots"), ",copy=slots)"));
    assert_non_null(strstr(set_and_print("copy", "In_Place"), ",copy=in_place)"));
    assert_null(strstr(set_and_print("copy", "auto"), "copy"));
}

/* Only a clause names one, so no list has it, and nothing between nodes is one. */
static void
a_schedule_is_named_by_its_file(void **state)
{
    char text[512], longest[AR_FILE_TEXT] = "", printed[AR_CHOICE_TEXT];
    (void)state;
    assert_chooses("schedule(file=a/b-%n.txt)", 8, 2, "schedule(file=a/b-%n.txt)");
    assert_chooses("Schedule( File=\"a/b\" , window=2 ):0-8", 8, 2, "schedule(file=a/b,window=2)");
    assert_chooses("schedule(file=\"a; (b):,#%%\",segment=64K)", 8, 2,
                   "schedule(file=\"a; (b):,#%%\",segment=64K)");
    assert_canonical("ring:0-8;schedule(file=\"x#y\")\n", true, "ring:0-8;schedule(file=\"x#y\")");
    memset(longest, '(', sizeof longest - 1);
    struct ar_rules *const rules =
        parsed("schedule(file=x,segment=17179869183G,window=256)", false);
    struct ar_choice choice = rules->clauses[0].choice;
    memcpy(choice.params.file, longest, sizeof longest);
    ar_choice_print(&choice, printed, sizeof printed);
    assert_non_null(strstr(printed, "\",segment=17179869183G,window=256)"));
    ar_rules_destroy(rules);
    assert_refused("schedule", 1, "schedule needs a file; allowed: schedule(file=NAME)");
    assert_refused("schedule(window=2)", 1, "schedule needs a file");
    assert_refused("schedule(file=)", 15, "expected a value");
    assert_refused("schedule(file=\"\")", 15, "file cannot be '\"\"'");
    assert_refused("schedule(file=\"a)", 15, "expected a second \" on the line");
    assert_refused("schedule(file=50%)", 15, "in which %n is the number of ranks and %% is %");
    assert_refused("schedule(file=\"a\tb\")", 15, "file cannot be");
    assert_refused("schedule(file=a,file=b)", 17, "parameter 'file' is given twice");
    assert_refused("schedule(root=1,file=b)", 10,
                   "schedule has no parameter 'root'; allowed: file");
    assert_refused("ring(file=a)", 6, "ring has no parameter 'file'");
    assert_refused("two_level(inter=schedule)", 17, "inter cannot be 'schedule'");
    snprintf(text, sizeof text, "schedule(file=%0286d)", 0);
    assert_refused(text, 15, "of 1 to 239 characters");
}

static void
levels_that_make_no_sense_are_refused(void **state)
{
    static const char allowed[] =
        "; allowed: auto, flat, or 1 to 5 levels with + between them: ascending numbers of ranks "
        "from 2 on, then any of l3, numa, socket, as in 4+16, l3+numa or 8+socket";
    (void)state;
    assert_refused("shm(levels=0)", 12, "levels cannot be '0'");
    assert_refused("shm(levels=1+4)", 12, "levels cannot be '1+4'");
    assert_refused("shm(levels=16+4)", 12, "levels cannot be '16+4'");
    assert_refused("shm(levels=4+4)", 12, "levels cannot be '4+4'");
    assert_refused("shm(levels=2+4+8+16+32+64)", 12, "levels cannot be '2+4+8+16+32+64'");
    assert_refused("shm(levels=numa+4)", 12, "levels cannot be 'numa+4'");
    assert_refused("shm(levels=8+4+numa)", 12, "levels cannot be '8+4+numa'");
    assert_refused("shm(levels=2+4+8+l3+numa+socket)", 12,
                   "levels cannot be '2+4+8+l3+numa+socket'");
    assert_refused("shm(levels=4+numa+numa)", 12, "levels cannot be '4+numa+numa'");
    assert_refused("shm(levels=l3+l3)", 12, "levels cannot be 'l3+l3'");
    assert_refused("shm(levels=flat+l3)", 12, "levels cannot be 'flat+l3'");
    assert_refused("shm(levels=4+)", 12, "levels cannot be '4+'");
    assert_refused("shm(levels=+4)", 12, "levels cannot be '+4'");
    assert_refused("shm(levels=4++8)", 12, "levels cannot be '4++8'");
    assert_refused("shm(levels=99999999999)", 12, "levels cannot be '99999999999'");
    assert_refused("shm(levels=core)", 12, allowed);
    assert_refused("shm(levels=sockets)", 12, "(did you mean 'socket'?)");
    assert_refused("shm(levels=16+4)", 12,
                   "allowed: numbers that grow from the innermost level on, as in 4+16");
    assert_refused("shm(levels=l3+4)", 12, "allowed: numbers before names, as in 8+socket");
    assert_refused("shm(levels=4+auto)", 12, "allowed: auto or flat alone");
    assert_refused("shm(levels=l3+l3)", 12, "allowed: each name once");
    assert_refused("shm(levels=4+sockets)", 12, "(did you mean 'socket'?)");
    assert_refused("shm(levels=4,16)", 16,
                   "expected '=' after the parameter's name, found ')'; in a parameter levels are "
                   "joined by +, as in levels=4+16");
    assert_refused("shm(levels=l3, numa)", 20, "; in a parameter levels are joined by +");
    assert_refused_without("shm(levels=4,window)", "joined by +");
    assert_refused_without("shm(window=4,16)", "joined by +");
    assert_refused_without("shm(levels=4+3)", "did you mean");
    assert_refused("ring(levels=4)", 6, "ring has no parameter 'levels'");
}

static void
a_copy_that_makes_no_sense_is_refused(void **state)
{
    (void)state;
    assert_refused("shm(copy=xpmem)", 10, "copy cannot be 'xpmem'; allowed: auto, slots, in_place");
    assert_refused("shm(copy=1)", 10, "copy cannot be '1'");
    assert_refused("shm(copy=)", 10, "expected a value, found ')'");
    assert_refused("shm(copy=slots,copy=slots)", 16, "parameter 'copy' is given twice");
    assert_refused("ring(copy=slots)", 6, "ring has no parameter 'copy'");
}

/* Where a row's default is not the plain value, the plain value is said too:
 * else it would read back as the default. */
static void
what_overrides_a_default_is_printed(void **state)
{
    (void)state;
    const struct ar_algorithm row = {
        .name = "row",
        .aliases = "",
        .takes = AR_TAKES_DIMS,
        .defaults = {.ndims = 2, .dims = {3, 2}, .segment_bytes = 65536, .window = 4},
    };
    struct ar_choice choice = ar_choice_default(&row);
    char text[AR_CHOICE_TEXT];
    assert_string_equal(ar_choice_print(&choice, text, sizeof text),
                        "row(dims=3x2,segment=64K,window=4)");
    choice.params = (struct ar_params){.window = 1};
    assert_string_equal(ar_choice_print(&choice, text, sizeof text),
                        "row(dims=auto,segment=0,window=1)");
}

static void
parameters_out_of_range_are_refused(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"root", "-1"},       {"root", "2147483648"}, {"root", "x"},
        {"radix", "1"},       {"radix", "0"},         {"dims", "2x0"},
        {"dims", "2x"},       {"dims", "x2"},         {"dims", ""},
        {"dims", "2xx3"},     {"dims", "-"},          {"dims", "1x1x1x1x1x1x1x1x1"},
        {"broadcast", "rng"}, {"allgather", "flat"},  {"reduce_scatter", "bruck"},
        {"window", "inf"},    {"segment", "fast"},    {"dims", "2x2147483648"},
        {"whole", "-1"},      {"whole", "8X"},        {"whole", ""},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (set_and_print(bad[i][0], bad[i][1]))
            fail_msg("%s=%s was taken", bad[i][0], bad[i][1]);
    assert_non_null(set_and_print("dims", "1x1x1x1x1x1x1x1"));
}

static void
every_enum_value_round_trips(void **state)
{
    (void)state;
    char expected[64];
    for (int i = 0; ar_broadcast_names[i]; i++) {
        snprintf(expected, sizeof expected, "broadcast=%s,", ar_broadcast_names[i]);
        assert_non_null(strstr(set_and_print("broadcast", ar_broadcast_names[i]), expected));
    }
    for (int i = 0; ar_allgather_names[i]; i++) {
        snprintf(expected, sizeof expected, "allgather=%s,", ar_allgather_names[i]);
        assert_non_null(strstr(set_and_print("allgather", ar_allgather_names[i]), expected));
    }
    for (int i = 0; ar_reduce_scatter_names[i]; i++) {
        snprintf(expected, sizeof expected, "reduce_scatter=%s" LEVELS ")",
                 ar_reduce_scatter_names[i]);
        assert_non_null(
            strstr(set_and_print("reduce_scatter", ar_reduce_scatter_names[i]), expected));
    }
}

static void
every_rows_default_choice_round_trips(void **state)
{
    (void)state;
    for (size_t i = 0; i < ar_algorithm_count(); i++) {
        const struct ar_choice choice = ar_choice_default(ar_algorithm_at(i));
        char text[AR_CHOICE_TEXT];
        ar_choice_print(&choice, text, sizeof text);
        assert_canonical(text, false, text);
        assert_chooses(text, 8, 2, text);
    }
}

static void
sizes_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t bytes;
        size_t length;
    } good[] = {
        {"0", 0, 1},        {"8", 8, 1},          {"64k", 65536, 3},     {"64K-", 65536, 3},
        {"1KB", 1024, 3},   {"1KiB,", 1024, 4},   {"7B", 7, 2},          {"1m", 1 << 20, 2},
        {"1G", 1 << 30, 2}, {"INF", SIZE_MAX, 3}, {"maxx", SIZE_MAX, 3}, {"1Ki", 1024, 2},
        {"007", 7, 3},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        size_t bytes = 1;
        const char *end = NULL;
        assert_int_equal(ar_size_parse(&bytes, good[i].text, &end), AR_OK);
        assert_true(bytes == good[i].bytes);
        assert_int_equal(end - good[i].text, good[i].length);
    }
    static const char *const bad[] = {"", "x", "K", "-1", "in", "i", "ma", "+1", " 1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        size_t bytes;
        const char *end = NULL;
        assert_int_equal(ar_size_parse(&bytes, bad[i], &end), AR_ERR_SYNTAX);
        assert_ptr_equal(end, bad[i]);
    }
}

static void
sizes_do_not_overflow(void **state)
{
    (void)state;
    size_t bytes = 5;
    const char *end;
    const char *texts[] = {"18446744073709551616", "17179869184G", "99999999999999999999999K"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(ar_size_parse(&bytes, texts[i], &end), AR_ERR_SYNTAX);
        assert_int_equal(*end, '\0');
        assert_int_equal(bytes, 5);
    }
    char largest[AR_SIZE_TEXT];
    snprintf(largest, sizeof largest, "%zuG", SIZE_MAX >> 30);
    assert_int_equal(ar_size_parse(&bytes, largest, &end), AR_OK);
    assert_true(bytes == SIZE_MAX >> 30 << 30);
}

static void
sizes_round_trip(void **state)
{
    (void)state;
    const size_t some[] = {0, 1, 1000, 1023, 1024, 1025, 65536, 3 << 20, (size_t)5 << 30, SIZE_MAX};
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
        char text[AR_SIZE_TEXT];
        size_t bytes = 0;
        const char *end;
        ar_size_print(some[i], text, sizeof text);
        assert_int_equal(ar_size_parse(&bytes, text, &end), AR_OK);
        assert_int_equal(*end, '\0');
        assert_true(bytes == some[i]);
    }
    char text[AR_SIZE_TEXT];
    assert_string_equal(ar_size_print(65536, text, sizeof text), "64K");
    assert_string_equal(ar_size_print(SIZE_MAX, text, sizeof text), "inf");
    assert_string_equal(ar_size_print(1000, text, sizeof text), "1000");
}

static size_t
row_index(const char *name)
{
    for (size_t i = 0; i < ar_algorithm_count(); i++)
        if (strcmp(ar_algorithm_at(i)->name, name) == 0)
            return i;
    fail_msg("no row %s", name);
    return 0;
}

static void
a_list_allows_what_it_names(void **state)
{
    (void)state;
    const size_t n = ar_algorithm_count();
    bool *allowed = malloc(n * sizeof *allowed);
    struct ar_problem problem;
    assert_non_null(allowed);

    assert_int_equal(ar_algo_list_parse(allowed, " ", &problem), AR_OK);
    for (size_t i = 0; i < n; i++)
        assert_true(allowed[i]);
    assert_int_equal(ar_algo_list_parse(allowed, " 8 , Recursive-Doubling", &problem), AR_OK);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(allowed[i], i == row_index("ring") || i == row_index("butterfly"));
    assert_int_equal(ar_algo_list_parse(allowed, "^ring, ^butterfly", &problem), AR_OK);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(allowed[i], i != row_index("ring") && i != row_index("butterfly"));
    assert_int_equal(ar_algo_list_parse(allowed, "1-3,8,^2", &problem), AR_OK);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(allowed[i], i == row_index("butterfly") ||
                                         i == row_index("reduce_bcast") || i == row_index("ring"));
    assert_int_equal(ar_algo_list_parse(allowed, "11", &problem), AR_OK);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(allowed[i], i == row_index("shm") || i == row_index("two_level"));
    free(allowed);
}

static void
assert_list_refused(const char *text, int column, const char *words)
{
    bool *allowed = malloc(ar_algorithm_count() * sizeof *allowed);
    struct ar_problem problem = {0, 0, ""};
    assert_non_null(allowed);
    assert_int_equal(ar_algo_list_parse(allowed, text, &problem), AR_ERR_SYNTAX);
    assert_int_equal(problem.line, 1);
    if (problem.column != column || !strstr(problem.text, words))
        fail_msg("\"%s\" gave %d: %s", text, problem.column, problem.text);
    free(allowed);
}

static void
a_bad_list_is_refused(void **state)
{
    (void)state;
    assert_list_refused("ring,rinng", 6, "did you mean 'ring'?");
    assert_list_refused("ring,4-2", 6, "'4-2' is not a range of Intel ids; allowed: l-m with 1");
    assert_list_refused("0-4", 1, "'0-4' is not a range of Intel ids");
    assert_list_refused("1-99", 1, "'1-99' is not a range");
    assert_list_refused("1-", 1, "'1-' is not a range");
    assert_list_refused("^", 2, "expected an algorithm");
    assert_list_refused("^rign", 2, "did you mean 'ring'?");
    assert_list_refused(
        "^ring,rhd", 7,
        "'rhd' has no ^, and a list that begins with ^ has all other names "
        "already; allowed: ^ in front of all names, as in ^ring,^rhd, or names first");
    assert_list_refused(" ^ring,^rhd,1-4", 13, "'1-4' has no ^");
    assert_list_refused("^ring,", 7, "expected an algorithm");
    assert_list_refused("ring,^ring", 1, "leaves no algorithm for auto");
    assert_list_refused("ring,", 6, "expected an algorithm, found the end");
    assert_list_refused(",ring", 1, "expected an algorithm, found ','");
    assert_list_refused("ring butterfly", 6, "expected ',' or the end");
    assert_list_refused("native", 1, "auto cannot choose native");
    assert_list_refused("ring,auto", 6, "auto cannot choose auto");
    assert_list_refused("ring(window=2)", 5, "found '('");
}

static void
auto_always_finds_an_algorithm(void **state)
{
    (void)state;
    for (int nranks = 1; nranks <= 4096; nranks *= 2)
        for (int shift = 0; shift < 40; shift++)
            for (int commutative = 0; commutative < 2; commutative++) {
                const struct ar_request request = {.bytes = ((size_t)1 << shift) - 1,
                                                   .nranks = nranks,
                                                   .commutative = commutative,
                                                   .shares_memory = nranks % 3 == 1};
                struct ar_choice choice = {.algorithm = NULL};
                assert_int_equal(ar_auto_select(&choice, &request, NULL), AR_OK);
                assert_int_equal(choice.kind, AR_CHOICE_ALGORITHM);
                assert_true(request.shares_memory || !choice.algorithm->shares_memory);
                assert_true(commutative || choice.algorithm->keeps_order);
            }
}

static void
without_a_model_many_ranks_form_a_ring_only_for_long_parts(void **state)
{
    struct ar_choice choice;
    (void)state;
    for (size_t bytes = (size_t)128 << 10; bytes <= (size_t)8 << 30; bytes *= 2)
        for (int nranks = 4; nranks <= 65536; nranks *= 4) {
            const struct ar_request request = {
                .bytes = bytes, .nranks = nranks, .commutative = true};
            const bool is_ring =
                nranks <= 16 || (nranks <= 1024 && bytes > ((size_t)64 << 10) * (size_t)nranks);
            assert_int_equal(ar_auto_select(&choice, &request, NULL), AR_OK);
            assert_string_equal(choice.algorithm->name, is_ring ? "ring" : "rhd");
        }
}

/* On 4 ranks that share memory. */
static int
choose(struct ar_choice *choice, size_t bytes, bool commutative, const bool *allowed)
{
    const struct ar_request request = {
        .bytes = bytes, .nranks = 4, .commutative = commutative, .shares_memory = true};
    return ar_auto_select(choice, &request, allowed);
}

static void
auto_picks_only_what_is_allowed(void **state)
{
    (void)state;
    const size_t n = ar_algorithm_count();
    bool *allowed = calloc(n, sizeof *allowed);
    struct ar_choice choice;
    assert_non_null(allowed);
    assert_int_equal(choose(&choice, 8, true, allowed), AR_OK);
    assert_int_equal(choice.kind, AR_CHOICE_NATIVE);
    for (size_t i = 0; i < n; i++) {
        allowed[i] = true;
        for (size_t bytes = 8; bytes <= (size_t)1 << 30; bytes *= 8) {
            assert_int_equal(choose(&choice, bytes, true, allowed), AR_OK);
            assert_ptr_equal(choice.algorithm, ar_algorithm_at(i));
            assert_int_equal(choose(&choice, bytes, false, allowed), AR_OK);
            assert_int_equal(choice.kind, ar_algorithm_at(i)->keeps_order ? AR_CHOICE_ALGORITHM
                                                                          : AR_CHOICE_NATIVE);
        }
        allowed[i] = false;
    }
    free(allowed);
}

static void
the_built_in_rules_name_algorithms_only(void **state)
{
    (void)state;
    struct ar_rules *rules = parsed(ar_auto_rules_text(), false);
    assert_true(rules->nclauses > 0);
    for (size_t i = 0; i < rules->nclauses; i++)
        assert_int_equal(rules->clauses[i].choice.kind, AR_CHOICE_ALGORITHM);
    ar_rules_destroy(rules);
}

/* Texts that the fuzzer starts from. */
static const char *const seeds[] = {
    "ring",
    "butterfly:0-8K;ring:8K-1M;native:1M-inf@5",
    "1:0-1024@8-16,2048;8:65536-inf;0",
    "ring(segment=64K,window=4):8@2,16-32@2-max;auto",
    "recursive-doubling ( segment = 1MiB ) : 0 - inf @ 3 - inf",
    "# rules\r\nring:0-8K\t# short\r\n\r\nbutterfly(window=2);native\r\n",
};

static unsigned
next_random(unsigned *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* One change at a random place: a character replaced, removed or put in, or a
 * piece of the text moved there. Room for one more character at least. */
static void
mutate(char *text, size_t room, unsigned *random)
{
    static const char letters[] = ";:,@-()=#\n\r 0189kKMGBixra_\x80\x01'\"%s";
    const size_t length = strlen(text);
    const size_t at = next_random(random) % (length + 1);
    const char letter = letters[next_random(random) % (sizeof letters - 1)];

    switch (next_random(random) % 4) {
    case 0:
        if (at < length)
            text[at] = letter;
        break;
    case 1:
        if (at < length)
            memmove(text + at, text + at + 1, length - at);
        break;
    case 2:
        if (length + 1 < room) {
            memmove(text + at + 1, text + at, length - at + 1);
            text[at] = letter;
        }
        break;
    default:
        if (at < length)
            memmove(text + next_random(random) % (at + 1), text + at, length - at);
    }
}

static void
assert_told_in_full(const char *text, const struct ar_problem *problem)
{
    const size_t length = strlen(text);
    if (problem->line < 1 || problem->column < 1 || (size_t)problem->column > length + 1 ||
        problem->text[0] == '\0')
        fail_msg("\"%s\" gave %d:%d: %s", text, problem->line, problem->column, problem->text);
    for (const char *c = problem->text; *c; c++)
        if (*c < ' ' || *c > '~')
            fail_msg("\"%s\": byte %d in what is told", text, *c);
}

/* Rules that parse print to a text that parses and prints alike. */
static void
assert_round_trip(const struct ar_rules *rules)
{
    char *printed = ar_rules_text(rules);
    assert_non_null(printed);
    assert_canonical(printed, false, printed);
    assert_canonical(printed, true, printed);
    free(printed);
}

/* Parses an exact copy, so that a read past its end is seen by the sanitizer.
 * Returns whether it was taken. */
static bool
try_text(const char *text, bool lines)
{
    char *copy = strdup(text);
    struct ar_rules *rules = NULL;
    struct ar_problem problem = {0, 0, ""};
    assert_non_null(copy);
    const int error = lines ? ar_rules_parse_lines(&rules, copy, &problem)
                            : ar_rules_parse(&rules, copy, &problem);
    free(copy);
    if (error) {
        assert_int_equal(error, AR_ERR_SYNTAX);
        assert_told_in_full(text, &problem);
        return false;
    }
    assert_round_trip(rules);
    ar_rules_destroy(rules);
    return true;
}

static void
mutated_texts_parse_or_are_told(void **state)
{
    (void)state;
    unsigned random = 20240229;
    size_t taken = 0, refused = 0;
    for (int i = 0; i < 60000; i++) {
        char text[256];
        const char *seed = seeds[next_random(&random) % (sizeof seeds / sizeof seeds[0])];
        snprintf(text, sizeof text, "%s", seed);
        for (unsigned changes = next_random(&random) % 4; changes > 0; changes--)
            mutate(text, sizeof text, &random);
        if (try_text(text, i % 2))
            taken++;
        else
            refused++;
    }
    assert_true(taken > 1000); /* the mutants reach both sides */
    assert_true(refused > 1000);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_the_registry_are_taken),
        cmocka_unit_test(case_minus_and_aliases_do_not_matter),
        cmocka_unit_test(intel_ids_mean_intels_algorithms),
        cmocka_unit_test(every_intel_id_is_a_row),
        cmocka_unit_test(ids_of_shared_memory_have_a_form_for_one_node),
        cmocka_unit_test(bounds_are_inclusive_and_the_first_match_wins),
        cmocka_unit_test(empty_clauses_and_blanks_say_nothing),
        cmocka_unit_test(canonical_text_has_names_and_full_parameters),
        cmocka_unit_test(clauses_keep_their_place_and_conditions),
        cmocka_unit_test(a_clause_asks_for_traits_beside_sizes),
        cmocka_unit_test(nodes_are_a_number_or_a_range),
        cmocka_unit_test(a_block_is_the_bytes_for_each_rank_rounded_up),
        cmocka_unit_test(an_op_commutes_or_does_not),
        cmocka_unit_test(rules_that_ship_choose_as_their_libraries_do),
        cmocka_unit_test(names_of_communicators_match_patterns),
        cmocka_unit_test(patterns_match_what_fnmatch_matches),
        cmocka_unit_test(many_stars_take_no_longer_than_few),
        cmocka_unit_test(traits_are_printed_as_they_are_read),
        cmocka_unit_test(wrong_traits_are_told),
        cmocka_unit_test(a_rules_file_has_lines_and_comments),
        cmocka_unit_test(unknown_names_are_refused_with_what_is_near),
        cmocka_unit_test(refusals_point_at_the_token),
        cmocka_unit_test(parameters_are_refused_with_what_the_row_takes),
        cmocka_unit_test(every_parameter_is_read_and_printed),
        cmocka_unit_test(a_schedule_is_named_by_its_file),
        cmocka_unit_test(levels_that_make_no_sense_are_refused),
        cmocka_unit_test(a_copy_that_makes_no_sense_is_refused),
        cmocka_unit_test(what_overrides_a_default_is_printed),
        cmocka_unit_test(parameters_out_of_range_are_refused),
        cmocka_unit_test(every_enum_value_round_trips),
        cmocka_unit_test(every_rows_default_choice_round_trips),
        cmocka_unit_test(sizes_are_read),
        cmocka_unit_test(sizes_do_not_overflow),
        cmocka_unit_test(sizes_round_trip),
        cmocka_unit_test(a_list_allows_what_it_names),
        cmocka_unit_test(a_bad_list_is_refused),
        cmocka_unit_test(auto_always_finds_an_algorithm),
        cmocka_unit_test(auto_picks_only_what_is_allowed),
        cmocka_unit_test(without_a_model_many_ranks_form_a_ring_only_for_long_parts),
        cmocka_unit_test(the_built_in_rules_name_algorithms_only),
        cmocka_unit_test(mutated_texts_parse_or_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
