/* The grammar of ALLREDUCE_ALGO and that of rules files: what is taken reads back from its
 * canonical text, and what is refused is told. */
#include <config.h>

#include "fuzz.h"
#include "select/select.h"

static int
parse(struct ar_rules **rules, const char *text, bool lines, struct ar_problem *problem)
{
    *rules = NULL;
    return lines ? ar_rules_parse_lines(rules, text, problem)
                 : ar_rules_parse(rules, text, problem);
}

static void
try_match(const struct ar_rules *rules)
{
    for (int nranks = 1; nranks < 100000; nranks *= 10) {
        const struct ar_request request = {.bytes = (size_t)nranks * 7,
                                           .nranks = nranks,
                                           .commutative = true,
                                           .nodes = 3,
                                           .per_node = 4,
                                           .comm = "MPI_COMM_WORLD"};
        const struct ar_clause *const clause = ar_rules_match(rules, &request);
        FUZZ_EXPECT(!clause || ar_clause_matches(clause, &request));
    }
}

/* The canonical text is its own canonical text, in either grammar. */
static void
try_again(const struct ar_rules *rules, bool lines)
{
    struct ar_rules *again;
    struct ar_problem problem;
    char *const text = ar_rules_text(rules);
    FUZZ_EXPECT(text);
    FUZZ_EXPECT(parse(&again, text, lines, &problem) == AR_OK);
    FUZZ_EXPECT(again->nclauses == rules->nclauses && again->nconditions == rules->nconditions);
    char *const same = ar_rules_text(again);
    FUZZ_EXPECT(same && strcmp(text, same) == 0);
    free(same);
    ar_rules_destroy(again);
    free(text);
}

bool fuzz_is_taken;

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *const text = fuzz_text(data, size);
    for (int lines = 0; lines < 2; lines++) {
        struct ar_rules *rules;
        struct ar_problem problem = {0};
        const int error = parse(&rules, text, lines, &problem);
        FUZZ_EXPECT(error == AR_OK || error == AR_ERR_SYNTAX);
        if (error) {
            FUZZ_EXPECT(problem.line > 0 && problem.column > 0 && problem.text[0] != '\0');
            FUZZ_EXPECT(!strchr(problem.text, '\n'));
            continue;
        }
        fuzz_is_taken = true;
        try_match(rules);
        try_again(rules, false);
        try_again(rules, true);
        ar_rules_destroy(rules);
    }
    free(text);
    return 0;
}
