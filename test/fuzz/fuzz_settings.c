/* The texts of the other variables, and a list of sizes; the input's first byte says which. */
#include <config.h>

#include "config/config.h"
#include "cores/cpus.h"
#include "fuzz.h"
#include "model/machine.h"
#include "model/placement.h"
#include "select/node_levels.h"
#include "select/settings.h"
#include "select/sizes.h"

/* Whether the text is taken; if it is not, why says so. */
typedef bool attempt(const char *text, struct ar_text *why);

static bool
try_algo_list(const char *text, struct ar_text *why)
{
    struct ar_problem problem = {0};
    bool *const allowed = calloc(ar_algorithm_count(), sizeof *allowed);
    FUZZ_EXPECT(allowed);
    const int error = ar_algo_list_parse(allowed, text, &problem);
    ar_text_add(why, "%s", problem.text);
    free(allowed);
    return error == AR_OK;
}

static bool
try_sizes(const char *text, struct ar_text *why)
{
    struct ar_sizes sizes;
    struct ar_problem problem = {0};
    const int error = ar_sizes_parse(&sizes, text, 2, &problem);
    ar_text_add(why, "%s", problem.text);
    if (error)
        return false;
    FUZZ_EXPECT(sizes.n > 0);
    ar_sizes_fini(&sizes);
    return true;
}

static bool
try_verify(const char *text, struct ar_text *why)
{
    struct ar_verify_setting setting, again;
    char printed[AR_VERIFY_TEXT];
    if (ar_verify_parse(&setting, text, why) != AR_OK)
        return false;
    ar_verify_print(&setting, printed, sizeof printed);
    FUZZ_EXPECT(ar_verify_parse(&again, printed, why) == AR_OK);
    FUZZ_EXPECT(again.every == setting.every && again.action == setting.action);
    return true;
}

static bool
try_timeout(const char *text, struct ar_text *why)
{
    struct ar_timeout_setting setting;
    if (ar_timeout_parse(&setting, text, why) != AR_OK)
        return false;
    FUZZ_EXPECT(setting.ms == 0 || setting.ms >= 100);
    return true;
}

static bool
try_trace(const char *text, struct ar_text *why)
{
    struct ar_trace_setting setting = {0};
    if (ar_trace_parse(&setting, text, why) != AR_OK)
        return false;
    FUZZ_EXPECT(setting.memory_bytes >= AR_TRACE_MEMORY_LEAST &&
                setting.memory_bytes <= AR_TRACE_MEMORY_MOST);
    free(setting.file);
    return true;
}

/* The caller of the parser says what is allowed. */
static bool
try_levels(const char *text, struct ar_text *why)
{
    struct ar_levels levels, again;
    char printed[AR_LEVELS_TEXT];
    struct ar_text t;
    ar_text_add(why, "no levels");
    if (!ar_levels_parse(&levels, ar_word_of(text)))
        return false;
    ar_text_init(&t, printed, sizeof printed);
    ar_levels_print(&t, &levels);
    FUZZ_EXPECT(ar_levels_parse(&again, ar_word_of(printed)) && again.kind == levels.kind);
    return true;
}

/* The kernel's own list: what is not one is no CPU. */
static bool
try_cpus(const char *text, struct ar_text *why)
{
    struct ar_cpus cpus;
    ar_text_add(why, "no CPUs");
    return ar_cpus_parse(&cpus, text);
}

static bool
try_placement(const char *text, struct ar_text *why)
{
    struct ar_placement placement;
    const int error = ar_placement_is_shape(text) ? ar_placement_parse_shape(&placement, text, why)
                                                  : ar_placement_parse_hosts(&placement, text, why);
    if (error)
        return false;
    FUZZ_EXPECT(placement.nranks > 0);
    ar_placement_fini(&placement);
    return true;
}

static bool
try_machine(const char *text, struct ar_text *why)
{
    struct ar_machine machine;
    char problem[AR_MACHINE_PROBLEM] = "";
    const int error = ar_machine_parse(&machine, text, problem);
    FUZZ_EXPECT(error == AR_OK || error == AR_ERR_SYNTAX);
    ar_text_add(why, "%s", problem);
    return error == AR_OK;
}

/* What another rank sends: all of it is taken. */
static bool
try_config(const char *text, struct ar_text *why)
{
    struct ar_config *const config = ar_config_from_text(text);
    (void)why;
    FUZZ_EXPECT(config);
    ar_config_destroy(config);
    return true;
}

bool fuzz_is_taken;

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static attempt *const attempts[] = {try_algo_list, try_sizes,  try_verify, try_timeout,
                                        try_trace,     try_levels, try_cpus,   try_placement,
                                        try_machine,   try_config};
    char reason[512] = "";
    struct ar_text why;
    if (size == 0)
        return 0;
    char *const text = fuzz_text(data + 1, size - 1);
    ar_text_init(&why, reason, sizeof reason);
    fuzz_is_taken = attempts[(size_t)data[0] % (sizeof attempts / sizeof attempts[0])](text, &why);
    FUZZ_EXPECT(fuzz_is_taken || reason[0] != '\0');
    free(text);
    return 0;
}
