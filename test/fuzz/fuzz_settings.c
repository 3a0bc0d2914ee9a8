/* The texts of the other variables, and a list of sizes; the input's first byte says which. */
#include <config.h>

#include "cli/sizes.h"
#include "config/config.h"
#include "cores/cpus.h"
#include "fuzz.h"
#include "model/machine.h"
#include "model/placement.h"
#include "select/node_levels.h"
#include "select/settings.h"

static void
try_algo_list(const char *text)
{
    struct ar_problem problem = {0};
    bool *const allowed = calloc(ar_algorithm_count(), sizeof *allowed);
    FUZZ_EXPECT(allowed);
    const int error = ar_algo_list_parse(allowed, text, &problem);
    FUZZ_EXPECT(error == AR_OK || (error == AR_ERR_SYNTAX && problem.text[0]));
    free(allowed);
}

static void
try_sizes(const char *text)
{
    struct ar_sizes sizes;
    struct ar_problem problem = {0};
    const int error = ar_sizes_parse(&sizes, text, 2, &problem);
    FUZZ_EXPECT(error == AR_OK ? sizes.n > 0 : error == AR_ERR_SYNTAX && problem.text[0]);
    if (!error)
        ar_sizes_fini(&sizes);
}

static void
try_verify(const char *text)
{
    struct ar_verify_setting setting, again;
    char reason[256] = "", printed[AR_VERIFY_TEXT];
    struct ar_text why;
    ar_text_init(&why, reason, sizeof reason);
    if (ar_verify_parse(&setting, text, &why) != AR_OK) {
        FUZZ_EXPECT(reason[0]);
        return;
    }
    ar_verify_print(&setting, printed, sizeof printed);
    FUZZ_EXPECT(ar_verify_parse(&again, printed, &why) == AR_OK);
    FUZZ_EXPECT(again.every == setting.every && again.action == setting.action);
}

static void
try_timeout(const char *text)
{
    struct ar_timeout_setting setting;
    char reason[256] = "";
    struct ar_text why;
    ar_text_init(&why, reason, sizeof reason);
    const int error = ar_timeout_parse(&setting, text, &why);
    FUZZ_EXPECT(error == AR_OK ? setting.ms == 0 || setting.ms >= 100 : reason[0] != '\0');
}

static void
try_trace(const char *text)
{
    struct ar_trace_setting setting = {0};
    char reason[256] = "";
    struct ar_text why;
    ar_text_init(&why, reason, sizeof reason);
    if (ar_trace_parse(&setting, text, &why) != AR_OK) {
        FUZZ_EXPECT(reason[0]);
        return;
    }
    FUZZ_EXPECT(setting.memory_bytes >= AR_TRACE_MEMORY_LEAST &&
                setting.memory_bytes <= AR_TRACE_MEMORY_MOST);
    free(setting.file);
}

static void
try_levels(const char *text)
{
    struct ar_levels levels, again;
    char printed[AR_LEVELS_TEXT];
    struct ar_text t;
    if (!ar_levels_parse(&levels, ar_word_of(text)))
        return;
    ar_text_init(&t, printed, sizeof printed);
    ar_levels_print(&t, &levels);
    FUZZ_EXPECT(ar_levels_parse(&again, ar_word_of(printed)) && again.kind == levels.kind);
}

static void
try_cpus(const char *text)
{
    struct ar_cpus cpus;
    ar_cpus_parse(&cpus, text);
}

static void
try_placement(const char *text)
{
    struct ar_placement placement;
    char reason[256] = "";
    struct ar_text why;
    ar_text_init(&why, reason, sizeof reason);
    const int error = ar_placement_is_shape(text)
                          ? ar_placement_parse_shape(&placement, text, &why)
                          : ar_placement_parse_hosts(&placement, text, &why);
    FUZZ_EXPECT(error == AR_OK ? placement.nranks > 0 : reason[0] != '\0');
    if (!error)
        ar_placement_fini(&placement);
}

static void
try_machine(const char *text)
{
    struct ar_machine machine;
    char problem[AR_MACHINE_PROBLEM] = "";
    const int error = ar_machine_parse(&machine, text, problem);
    FUZZ_EXPECT(error == AR_OK || (error == AR_ERR_SYNTAX && problem[0]));
}

/* What another rank sends. */
static void
try_config(const char *text)
{
    struct ar_config *const config = ar_config_from_text(text);
    FUZZ_EXPECT(config);
    ar_config_destroy(config);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const tries[])(const char *text) = {
        try_algo_list, try_sizes, try_verify,    try_timeout, try_trace,
        try_levels,    try_cpus,  try_placement, try_machine, try_config};
    if (size == 0)
        return 0;
    char *const text = fuzz_text(data + 1, size - 1);
    tries[(size_t)data[0] % (sizeof tries / sizeof tries[0])](text);
    free(text);
    return 0;
}
