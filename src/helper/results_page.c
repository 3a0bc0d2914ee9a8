/* The page of a bench: the results as JSON, and what a reader should know of them, as data for
 * src/page/bench.js. */
#include "config.h"

#include <stdio.h>

#include "cli/cli.h"
#include "cli/page.h"
#include "helper/bench.h"
#include "report/clock.h"
#include "report/json.h"

static bool
print_text(const void *what)
{
    const struct ar_results *const results = what;
    printf("%s\n", results->command);
    ar_results_print(stdout, results, AR_COLUMNS_TEXT, 0);
    return true;
}

static bool
print_document(const void *what)
{
    const struct ar_results *const results = what;
    char day[AR_DATE_TEXT], places[AR_NODE_PLACES_TEXT];
    struct ar_json json = {.to = stdout};
    ar_json_begin(&json, NULL, '{');
    ar_json_put_text(&json, "command", results->command);
    ar_json_put_text(&json, "machine", results->machine);
    ar_json_put_text(&json, "when", ar_clock_date(day, false));
    ar_json_put_text(&json, "incomplete", results->incomplete ? results->incomplete : "");
    ar_json_put_text(&json, "places",
                     results->places->text ? ar_node_places_describe(results->places, places) : "");
    ar_json_put(&json, "spread_wide", "%g", AR_SPREAD_WIDE);
    ar_json_put(&json, "interval_least", "%d", AR_INTERVAL_LEAST);
    ar_json_put(&json, "bench", " "); /* the value: */
    ar_results_write_json(stdout, results);
    ar_json_end(&json, '}');
    return true;
}

int
ar_results_page(const struct ar_results *results)
{
    return ar_page_write(results->bench->html, "bench.js", print_text, print_document, results);
}
