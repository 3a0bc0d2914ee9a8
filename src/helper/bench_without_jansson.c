/* What bench has instead where it was built without jansson. */
#include <config.h>

#include "cli/cli.h"
#include "helper/bench.h"

int
ar_results_print_json(const struct ar_results *results)
{
    (void)results;
    ar_cli_need_jansson("bench --json");
    return AR_EXIT_FAILED;
}
