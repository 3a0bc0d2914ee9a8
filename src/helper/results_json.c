/* The results of a bench as JSON. */
#include <config.h>

#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "cli/cli.h"
#include "cli/json_text.h"
#include "helper/bench.h"

/* JSON knows no infinity. */
static json_t *
number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *
row_object(const struct ar_results *results, size_t i)
{
    const struct ar_result *const row = &results->rows[i];
    const struct ar_outcome *const o = &row->outcome;
    const bool judged = row->kind != AR_MEASURED_EXCHANGE;
    json_t *const result = judged ? json_string(o->wrong ? "wrong" : "right") : json_null();
    return json_pack(
        "{so, sI, sI, ss, so, so, so, so, so, so, so, so, so, so, ss, ss, si, so, so, so, so, so, "
        "ss?}",
        "algorithm", ar_json_of_text(row->label), "bytes", (json_int_t)row->bytes, "count",
        (json_int_t)row->count, "place", ar_place_name(row->place), "median_us",
        number(o->us.median), "min_us", number(o->least_us), "avg_us", number(o->average_us),
        "max_us", number(o->most_us), "times_native", number(row->times_native), "algbw_gbs",
        number(row->algorithm_gbs), "busbw_gbs", number(row->bus_gbs), "result", result, "error",
        judged ? number(o->error) : json_null(), "from_native",
        judged ? number(o->from_native) : json_null(), "ran", o->ran, "reason", o->reason,
        "batches", row->batches, "extra_bytes",
        ar_result_has_extra(row) ? json_integer((json_int_t)o->extra_bytes) : json_null(),
        "turn_us", number(o->turn_us), "median_low_us", number(o->us.low), "median_high_us",
        number(o->us.high), "spread", number(o->us.spread), "order",
        judged ? ar_result_order_name(ar_results_order(results, i)) : NULL);
}

int
ar_results_print_json(const struct ar_results *results)
{
    json_t *const rows = json_array();
    int failed = !rows;
    for (size_t i = 0; i < results->n && !failed; i++)
        failed = json_array_append_new(rows, row_object(results, i));
    const struct ar_node_places *const places = results->places;
    json_t *const all = json_pack(
        "{si, si, ss, ss, ss, si, sI, sb, so, ss?, sb, so}", "ranks", results->nranks, "cpus",
        results->cpus, "mpi", results->mpi, "type", results->type, "op", results->op, "repetitions",
        results->bench->repetitions, "rotate_bytes", (json_int_t)results->bench->rotate_bytes,
        "fresh", results->bench->fresh, "nodes", ar_json_of_text(places->text), "nodes_are",
        places->text ? ar_node_places_are(places) : NULL, "complete", !results->incomplete,
        "results", rows);
    failed = failed || !all || json_dumpf(all, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
    failed = printf("\n") < 0 || fflush(stdout) || failed;
    json_decref(all);
    if (failed)
        fprintf(stderr, "allreduce bench: the JSON could not be written\n");
    return failed ? AR_EXIT_FAILED : AR_EXIT_DONE;
}
