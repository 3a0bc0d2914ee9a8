/* allreduce convert: the settings of other libraries as rules, and back. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/translate.h"
#include "config/input.h"

struct request {
    enum ar_foreign from, to; /* AR_LIBRARIES: rules of ours */
    const char *operand;      /* a text, NAME=VALUE or a file */
};

#define LIBRARIES "intel, openmpi, mpich, ucc, nccl" /* ar_library_names */

static const struct argp_option options[] = {
    {"from", 'f', "LIBRARY", 0,
     "The library whose setting the text is: intel, openmpi, mpich, ucc or nccl; not needed for "
     "NAME=VALUE (default: the text is rules, as in ALLREDUCE_ALGO)",
     0},
    {"to", 't', "LIBRARY", 0, "The library to translate to (default: rules)", 0},
    {0},
};

static enum ar_foreign
library_of(struct argp_state *state, const char *option, const char *name)
{
    const int library = ar_word_among(ar_word_of(name), ar_library_names);
    if (library < 0)
        argp_error(state, "--%s: unknown library '%s'; allowed: " LIBRARIES, option, name);
    return (enum ar_foreign)library;
}

/* Refuses NAME=VALUE whose name is no library's.  In rules a '=' comes behind a '(' or a ':'. */
static void
refuse_unknown_setting(struct argp_state *state, const char *operand)
{
    char known[512];
    struct ar_text t;
    const size_t length = strcspn(operand, "=(:; \t\n");
    if (operand[length] != '=' || access(operand, F_OK) == 0)
        return;
    ar_text_init(&t, known, sizeof known);
    ar_text_settings(&t);
    argp_error(state, "%.*s is not a variable of a known library; allowed: %s", (int)length,
               operand, known);
}

static error_t
parse_option(int key, char *value, struct argp_state *state)
{
    struct request *const request = state->input;
    switch (key) {
    case 'f':
        request->from = library_of(state, "from", value);
        return 0;
    case 't':
        request->to = library_of(state, "to", value);
        return 0;
    case ARGP_KEY_ARG:
        if (request->operand)
            argp_error(state, "one text at a time, not both '%s' and '%s'", request->operand,
                       value);
        request->operand = value;
        return 0;
    case ARGP_KEY_END:
        if (!request->operand)
            argp_error(state, "give a text, NAME=VALUE or a file");
        const char *text = request->operand;
        const enum ar_foreign told = ar_library_of_setting(request->operand, &text);
        if (told < AR_LIBRARIES && request->from < AR_LIBRARIES && told != request->from)
            argp_error(state, "'%s' is a setting of %s, not of %s", request->operand,
                       ar_library_titles[told], ar_library_titles[request->from]);
        if (told == AR_LIBRARIES)
            refuse_unknown_setting(state, request->operand);
        request->from = told < AR_LIBRARIES ? told : request->from;
        request->operand = text;
        if (request->from == request->to)
            argp_error(state, request->to == AR_LIBRARIES
                                  ? "give --from=LIBRARY or --to=LIBRARY; libraries: " LIBRARIES
                                  : "--from and --to are the same");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* The operand's text or, if it names a file, the text of the file.  Malloced; NULL, having said
 * why. */
static char *
text_of(const char *operand)
{
    char *text = NULL, reason[256] = " out of memory";
    struct ar_text why;
    if (access(operand, F_OK) != 0) {
        text = strdup(operand);
    } else {
        FILE *const file = ar_input_open(operand);
        ar_text_init(&why, reason, sizeof reason);
        const int error = file ? ar_input_text(&text, file, &why) : AR_ERR_SYNTAX;
        if (!file)
            ar_text_add(&why, " %m");
        else if (error == AR_ERR_MEMORY)
            ar_text_add(&why, " out of memory");
        if (file)
            fclose(file);
    }
    if (!text)
        fprintf(stderr, "allreduce convert: %s:%s\n", operand, reason);
    return text;
}

static int
fail(const char *what, const struct ar_problem *problem, int error)
{
    if (error == AR_ERR_SYNTAX && problem->line == 0)
        fprintf(stderr, "allreduce convert: %s: %s\n", what, problem->text);
    else if (error == AR_ERR_SYNTAX)
        fprintf(stderr, "allreduce convert: %s: line %d, column %d: %s\n", what, problem->line,
                problem->column, problem->text);
    else
        fprintf(stderr, "allreduce convert: out of memory\n");
    return error == AR_ERR_SYNTAX ? AR_EXIT_USAGE : AR_EXIT_FAILED;
}

static void
print_notes(const char *notes)
{
    for (const char *end; *notes; notes = end + 1) {
        end = strchr(notes, '\n');
        fprintf(stderr, "allreduce convert: %.*s\n", (int)(end - notes), notes);
    }
}

int
ar_cli_convert(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse_option,
        .args_doc = "TEXT\nFILE\nNAME=VALUE",
        .doc = "Translate the settings of other libraries to rules, or rules to their settings. "
               "What has no counterpart is reported on stderr.",
    };
    struct request request = {.from = AR_LIBRARIES, .to = AR_LIBRARIES};
    struct ar_translation in = {0}, out = {0};
    struct ar_problem problem;
    struct ar_rules *rules = NULL;
    ar_cli_parse_alone(&argp, 0, argc, argv, &request);

    char *const text = text_of(request.operand);
    if (!text)
        return AR_EXIT_FAILED;
    const char *const of_what =
        request.from < AR_LIBRARIES ? ar_library_titles[request.from] : "rules";
    int error = AR_OK;
    if (request.from == AR_LIBRARY_OPENMPI && ar_openmpi_is_json(text))
        error = ar_openmpi_translate_json(&in, text, &problem);
    else if (request.from < AR_LIBRARIES)
        error = ar_translate_from(&in, request.from, text, &problem);
    if (!error && request.to < AR_LIBRARIES) {
        error = ar_rules_parse_lines(&rules, in.text ? in.text : text, &problem);
        if (!error)
            error = ar_translate_to(&out, request.to, rules, &problem);
    }
    if (error) {
        error = fail(of_what, &problem, error);
    } else {
        print_notes(in.notes ? in.notes : "");
        print_notes(out.notes ? out.notes : "");
        const char *const result = out.text ? out.text : in.text;
        const size_t length = strlen(result);
        printf("%s%s", result, length > 0 && result[length - 1] == '\n' ? "" : "\n");
        error = fflush(stdout) == 0 ? AR_EXIT_DONE : AR_EXIT_FAILED;
    }
    ar_rules_destroy(rules);
    ar_translation_fini(&in);
    ar_translation_fini(&out);
    free(text);
    return error;
}
