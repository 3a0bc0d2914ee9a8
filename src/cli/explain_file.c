/* Schedules in files: read and proved on this process alone, and printed. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/explain.h"
#include "schedule/written_print.h"
#include "select/written_read.h"

#define REASON_TEXT 1024

int
ar_cli_read_schedule(const struct ar_written_row **made, const char *command, const char *path)
{
    char reason[REASON_TEXT];
    struct ar_text why;
    char *const text = ar_cli_read_text(command, "", path);
    struct ar_written_row *const row = malloc(sizeof *row);
    if (!text) {
        free(row);
        return AR_EXIT_FAILED;
    }
    ar_text_init(&why, reason, sizeof reason);
    const int error = row ? ar_written_row_read(row, text, NULL, SIZE_MAX, &why) : AR_ERR_MEMORY;
    free(text);
    if (error) {
        fprintf(stderr, "allreduce %s: %s: %s\n", command, path,
                error == AR_ERR_MEMORY ? "out of memory" : reason);
        free(row);
        return error == AR_ERR_SYNTAX ? AR_EXIT_USAGE : AR_EXIT_FAILED;
    }
    *made = row;
    return AR_EXIT_DONE;
}

int
ar_explain_read_file(struct ar_choice *choice, const struct ar_explain *request)
{
    char path[AR_WRITTEN_PATH];
    const struct ar_written_row *row;
    ar_written_path(path, choice->params.file, request->nranks);
    const int status = ar_cli_read_schedule(&row, "explain", path);
    if (status)
        return status;
    if (row->written.nranks != request->nranks) {
        fprintf(stderr, "allreduce explain: %s is for %d ranks: give -n %d\n", path,
                row->written.nranks, row->written.nranks);
        return AR_EXIT_USAGE;
    }
    choice->algorithm = &row->row;
    choice->params.written = row;
    return AR_EXIT_DONE;
}

/* What depends on sizes and nodes stands in the comment. */
int
ar_explain_print_schedule(const struct ar_explain *request, const struct ar_choice *choice,
                          size_t count)
{
    char name[AR_CHOICE_TEXT], places[AR_PLACEMENT_TEXT], comment[sizeof name + sizeof places + 64];
    struct ar_written w;
    const struct ar_emission emission = {choice->algorithm, &choice->params, request->nranks,
                                         count};
    const int error = ar_written_row_make(&w, &emission);
    if (error) {
        fprintf(stderr, "allreduce explain: %s\n",
                error == AR_ERR_PARAM ? "this takes more blocks than a file may have"
                                      : "out of memory");
        return AR_EXIT_FAILED;
    }
    snprintf(
        comment, sizeof comment, "%s, %s, messages of about %zu element%s",
        ar_choice_print(choice, name, sizeof name),
        ar_placement_print(&request->placement, request->nranks, request->placement.nnodes, places),
        count, ar_plural(count));
    ar_written_print(stdout, &w, comment);
    ar_written_fini(&w);
    return AR_EXIT_DONE;
}
