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

/* The clause that matches: its rules and number. */
struct match {
    const struct ar_rules *rules; /* NULL: none does */
    size_t clause;
    const char *reason;
};

static struct match
find_clause(const struct ar_config *config, const struct ar_request *request)
{
    const struct match places[] = {
        {config->rules, 0, ar_reason_named},
        {config->program_rules, 0, ar_reason_program},
        {config->file_rules, 0, ar_reason_rule},
    };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        struct match match = places[i];
        if (match.rules && ar_rules_match(match.rules, request, &match.clause))
            return match;
    }
    return (struct match){NULL, 0, NULL};
}

static const struct ar_choice *
choice_of(const struct match *match)
{
    return match->rules ? ar_rules_choice(match->rules, match->clause) : NULL;
}

static void
native_because(struct ar_choice *out, const char **reason, const char *why)
{
    *out = (struct ar_choice){.kind = AR_CHOICE_NATIVE};
    *reason = why;
}

/* By the built-in rules.  What the list of the user leaves to them may not be enough to keep the
 * bits: these come first. */
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

/* Where sums are exact any algorithm may be named, and does not serve what is rounded. */
static bool
may_ask_clauses(const struct ar_config *config, const struct ar_request *request)
{
    return config->determinism != AR_DETERMINISM_ORDER || request->keeps != AR_DETERMINISM_SIZE;
}

int
ar_config_select(const struct ar_config *config, struct ar_choice *out,
                 const struct ar_request *request, const char **reason)
{
    if (config->broken) {
        native_because(out, reason, ar_reason_broken);
        return AR_OK;
    }
    const struct match match = find_clause(config, request);
    const struct ar_choice *const clause = choice_of(&match);
    *reason = match.reason;
    if (!clause || clause->kind == AR_CHOICE_AUTO) {
        *reason = ar_reason_auto;
        return select_auto(config, out, request, reason);
    }
    const bool serves =
        request->commutative || clause->kind == AR_CHOICE_NATIVE || clause->algorithm->keeps_order;
    if (serves && may_ask_clauses(config, request)) {
        *out = *clause;
    } else if (request->keeps != AR_DETERMINISM_NONE) {
        *reason = ar_reason_determinism;
        return select_auto(config, out, request, reason);
    } else {
        native_because(out, reason, ar_reason_no_commute);
    }
    return AR_OK;
}

const struct ar_choice *
ar_config_clause(const struct ar_config *config, const struct ar_request *request)
{
    const struct match match = find_clause(config, request);
    return config->broken ? NULL : choice_of(&match);
}

bool
ar_config_may_cut(const struct ar_config *config, const struct ar_request *request)
{
    const struct match match = find_clause(config, request);
    return request->op != AR_OPS || config->cuts_user_ops ||
           (match.rules && ar_rules_traits(match.rules, match.clause)->asks & AR_TRAIT_OP);
}

static bool
begins_with_native(const struct ar_rules *rules)
{
    const struct ar_condition *conditions;
    return rules && ar_rules_count(rules) > 0 && ar_rules_conditions(rules, 0, &conditions) == 0 &&
           !ar_rules_traits(rules, 0)->asks && ar_rules_choice(rules, 0)->kind == AR_CHOICE_NATIVE;
}

const char *
ar_config_always_native(const struct ar_config *config)
{
    if (config->broken)
        return ar_reason_broken;
    if (begins_with_native(config->rules))
        return ar_reason_named;
    if (!config->rules && begins_with_native(config->program_rules))
        return ar_reason_program;
    if (!config->rules && !config->program_rules && begins_with_native(config->file_rules))
        return ar_reason_rule;
    return NULL;
}
