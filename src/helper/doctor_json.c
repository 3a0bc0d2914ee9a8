/* What allreduce doctor found, as JSON. */
#include <config.h>

#include <jansson.h>
#include <stdio.h>

#include "cli/json_text.h"
#include "helper/doctor.h"

int
ar_findings_print_json(const struct ar_findings *findings)
{
    json_t *const checks = json_array();
    for (size_t i = 0; i < findings->n; i++) {
        const struct ar_finding *const f = &findings->finding[i];
        json_array_append_new(checks, json_pack("{s:s, s:s, s:o, s:s?}", "check", f->check,
                                                "verdict", ar_severity_name(f->verdict), "text",
                                                ar_json_of_text(f->text), "advice", f->advice));
    }
    json_t *const whole = json_pack(
        "{s:s, s:o}", "verdict", ar_severity_name(ar_severity_worst(findings)), "checks", checks);
    const int failed = !whole || json_dumpf(whole, stdout, JSON_INDENT(2));
    printf("\n");
    json_decref(whole);
    return failed;
}
