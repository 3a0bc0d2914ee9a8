/* What a configuration chooses for a call. */
#include "config/config.h"

const char ar_reason_named[] = "named";
const char ar_reason_program[] = "program";
const char ar_reason_rule[] = "rule";
const char ar_reason_auto[] = "auto";
const char ar_reason_model[] = "model";
const char ar_reason_no_commute[] = "op does not commute";
const char ar_reason_determinism[] = "determinism";
const char ar_reason_whole[] = "user op needs the whole vector";
const char ar_reason_broken[] = "bad configuration";

/* Those of the sources. */
static const char *const reasons[AR_SOURCES] = {ar_reason_named, ar_reason_program, ar_reason_rule};

struct match {
    enum ar_source source;
    const struct ar_clause *clause; /* NULL: none matches */
};

static struct match
find_clause(const struct ar_config *config, const struct ar_request *request)
{
    struct match m = {.clause = NULL};
    for (int i = 0; i < AR_SOURCES && !m.clause; i++) {
        m.source = (enum ar_source)i;
        if (config->rules[i])
            m.clause = ar_rules_match(config->rules[i], request);
    }
    return m;
}

/* Selects by the built-in rules.  Where the user's list leaves them nothing that keeps the bits,
 * the list does not count. */
static int
select_auto(const struct ar_config *config, struct ar_choice *out, const struct ar_request *request,
            const char **reason)
{
    int error = ar_auto_select(out, request, config->allowed);
    if (!error && out->kind == AR_CHOICE_NATIVE && request->keeps != AR_DETERMINISM_NONE) {
        *reason = ar_reason_determinism;
        error = ar_auto_select(out, request, NULL);
    }
    if (!error && out->kind == AR_CHOICE_NATIVE)
        *reason = ar_reason_no_commute;
    return error;
}

int
ar_config_select(const struct ar_config *config, struct ar_choice *out,
                 const struct ar_request *request, const char **reason)
{
    const struct ar_choice native = {.kind = AR_CHOICE_NATIVE};
    if (config->broken) {
        *out = native;
        *reason = ar_reason_broken;
        return AR_OK;
    }
    const struct match match = find_clause(config, request);
    const struct ar_choice *const named = match.clause ? &match.clause->choice : NULL;
    if (!named || named->kind == AR_CHOICE_AUTO) {
        *reason = ar_reason_auto;
        return select_auto(config, out, request, reason);
    }
    /* Where sums are exact any algorithm may be named, but does not serve what is rounded. */
    const bool may_serve =
        config->determinism != AR_DETERMINISM_ORDER || request->keeps != AR_DETERMINISM_SIZE;
    if (may_serve && (request->commutative || named->kind == AR_CHOICE_NATIVE ||
                      ar_algorithm_keeps_order(named->algorithm, &named->params))) {
        *out = *named;
        *reason = reasons[match.source];
        return AR_OK;
    }
    if (request->keeps != AR_DETERMINISM_NONE) {
        *reason = ar_reason_determinism;
        return select_auto(config, out, request, reason);
    }
    *out = native;
    *reason = ar_reason_no_commute;
    return AR_OK;
}

const struct ar_choice *
ar_config_clause(const struct ar_config *config, const struct ar_request *request)
{
    const struct ar_clause *const clause =
        config->broken ? NULL : find_clause(config, request).clause;
    return clause ? &clause->choice : NULL;
}

bool
ar_config_may_cut(const struct ar_config *config, const struct ar_request *request)
{
    const struct ar_clause *const clause = find_clause(config, request).clause;
    return request->op != AR_OPS || config->cuts_user_ops ||
           (clause && clause->traits.asks & AR_TRAIT_OP);
}

/* Only the first source that has rules can make every call native. */
const char *
ar_config_always_native(const struct ar_config *config)
{
    int first = 0;
    if (config->broken)
        return ar_reason_broken;
    while (first < AR_SOURCES - 1 && !config->rules[first])
        first++;
    const struct ar_rules *const rules = config->rules[first];
    const struct ar_clause *const clause = rules && rules->nclauses > 0 ? rules->clauses : NULL;
    const bool is_native = clause && clause->nconditions == 0 && !clause->traits.asks &&
                           clause->choice.kind == AR_CHOICE_NATIVE;
    return is_native ? reasons[first] : NULL;
}

bool
ar_config_has_list(const struct ar_config *config)
{
    size_t i = 0;
    while (config->allowed && i < ar_algorithm_count() && config->allowed[i])
        i++;
    return config->allowed && i < ar_algorithm_count();
}
