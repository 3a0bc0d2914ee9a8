/* What the helper has instead where it was built without jansson. */
#include <config.h>

#include "cli/cli.h"
#include "helper/bench.h"
#include "helper/doctor.h"

int
ar_results_print_json(const struct ar_results *results)
{
    (void)results;
    ar_cli_need_jansson("bench --json");
    return AR_EXIT_FAILED;
}

int
ar_findings_print_json(const struct ar_findings *findings)
{
    (void)findings;
    ar_cli_need_jansson("doctor --json");
    return -1;
}
