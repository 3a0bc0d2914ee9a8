#include "config/promise.h"

enum ar_promise_breaker
ar_promise_check(const struct ar_config *config, struct ar_text *why)
{
    static const enum ar_promise_breaker breakers[] = {AR_BREAKER_ALGO, AR_BREAKER_PROGRAM,
                                                       AR_BREAKER_RULES};
    enum { N = sizeof breakers / sizeof breakers[0] };
    const struct ar_rules *const rules[N] = {config->rules, config->program_rules,
                                             config->file_rules};
    const enum ar_determinism level = config->determinism;
    int at;
    for (int i = 0; i < N; i++)
        if (rules[i] && ar_determinism_forbids(level, rules[i], why))
            return breakers[i];
    if (!ar_determinism_allows(level, config->allowed, why))
        return AR_BREAKER_LIST;
    if (!ar_determinism_mixes(level, rules, N, config->allowed, &at, why))
        return breakers[at];
    return AR_BREAKER_NONE;
}
