/* Schedules in files: read and proved on this process alone, and printed. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/explain.h"
#include "report/json.h"
#include "schedule/written_print.h"
#include "select/written_read.h"

#define REASON_TEXT 1024

int
ar_cli_read_schedule(const struct ar_written_row **made, const char *command, const char *path)
{
    char reason[REASON_TEXT];
    struct ar_text why;
    char *const text = ar_cli_read_text(command, "", path, AR_WRITTEN_TEXT_MAX);
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

/* --- printed for programs --- */

static void
put_place(struct ar_json *json, const char *name, const struct ar_written *w,
          const struct ar_written_region *region)
{
    static const char *const names[] = {[AR_IN] = "in", [AR_OUT] = "out"};
    ar_json_put_text(json, name,
                     region->buffer == AR_TMP ? w->pieces[region->piece].name
                                              : names[region->buffer]);
}

static void
put_step(struct ar_json *json, const struct ar_written *w, int rank, size_t round,
         const struct ar_written_step *step)
{
    const bool sends = step->kind == AR_SEND;
    const struct ar_written_region *const blocks = sends ? &step->a : &step->dst;
    ar_json_begin(json, NULL, '{');
    ar_json_put(json, "rank", "%d", rank);
    ar_json_put(json, "round", "%zu", round);
    ar_json_put_text(json, "step", ar_written_words[step->kind]);
    if (step->kind != AR_COPY && step->kind != AR_REDUCE)
        ar_json_put(json, "peer", "%d", step->peer);
    ar_json_put(json, "first", "%d", blocks->first);
    ar_json_put(json, "blocks", "%d", blocks->n);
    if (step->kind != AR_RECV)
        put_place(json, "a", w, &step->a);
    if (step->kind == AR_REDUCE)
        put_place(json, "b", w, &step->b);
    if (step->kind == AR_RECV_REDUCE)
        ar_json_put_text(json, "received", step->order == AR_RECEIVED_FIRST ? "left" : "right");
    if (!sends)
        put_place(json, "to", w, &step->dst);
    ar_json_end(json, '}');
}

static void
put_pieces(struct ar_json *json, const struct ar_written *w)
{
    ar_json_begin(json, "tmp", '[');
    for (size_t i = 0; i < w->npieces; i++) {
        ar_json_begin(json, NULL, '{');
        ar_json_put_text(json, "name", w->pieces[i].name);
        ar_json_put(json, "first", "%d", w->pieces[i].first);
        ar_json_put(json, "blocks", "%d", w->pieces[i].n);
        ar_json_end(json, '}');
    }
    ar_json_end(json, ']');
}

static void
print_json(const struct ar_written *w, const char *comment, uint32_t depth)
{
    struct ar_json json = {.to = stdout};
    ar_json_begin(&json, NULL, '{');
    ar_json_put(&json, "format", "1");
    ar_json_put_text(&json, "name", w->name);
    ar_json_put_text(&json, "comment", comment);
    ar_json_put(&json, "ranks", "%d", w->nranks);
    ar_json_put(&json, "blocks", "%d", w->nblocks);
    ar_json_put(&json, "depth", "%lu", (unsigned long)depth);
    put_pieces(&json, w);
    ar_json_begin(&json, "steps", '[');
    for (int r = 0; r < w->nranks; r++) {
        size_t round = 1;
        for (size_t i = 0; i < w->ranks[r].n; i++) {
            put_step(&json, w, r, round, &w->ranks[r].steps[i]);
            round += w->ranks[r].steps[i].ends_round;
        }
    }
    ar_json_end(&json, ']');
    ar_json_end(&json, '}');
    fputc('\n', stdout);
}

/* --- printed --- */

/* What depends on sizes and nodes stands in the comment. */
int
ar_explain_print_schedule(const struct ar_explain *request, const struct ar_choice *choice,
                          size_t count, uint32_t depth)
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
    if (request->format == AR_COLUMNS_JSON)
        print_json(&w, comment, depth);
    else
        ar_written_print(stdout, &w, comment);
    ar_written_fini(&w);
    return AR_EXIT_DONE;
}
