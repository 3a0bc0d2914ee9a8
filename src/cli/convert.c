/* allreduce convert: the settings of other libraries as rules, and back. */
#include <config.h>

#include <argp.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "config/input.h"
#include "translate/translate.h"

struct request {
    enum ar_foreign from, to; /* AR_LIBRARIES: rules of ours */
    const char *operand;      /* a text, settings or a file */
};

#define LIBRARIES "intel, openmpi, mpich, ucc, nccl, oneccl" /* ar_library_names */

static const struct argp_option options[] = {
    {"from", 'f', "LIBRARY", 0,
     "The library whose setting the text is: intel, openmpi, mpich, ucc, nccl or oneccl. Of "
     "several settings those of this library count. By default the names of settings tell which "
     "library it is, and a text without any is rules, as in ALLREDUCE_ALGO",
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
        if (request->from == request->to && request->to < AR_LIBRARIES)
            argp_error(state, "--from and --to are the same");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* --- texts --- */

/* Is it meant as the name of a file, such as job.sh?  No text of settings or rules looks so. */
static bool
is_file_name(const char *operand)
{
    return strpbrk(operand, "./") && !strpbrk(operand, "=:;,@#(){} \t\n");
}

/* --- translations --- */

static int
fail(const char *what, const struct ar_problem *problem, int error)
{
    if (error == AR_ERR_SYNTAX && problem->line == 0)
        fprintf(stderr, "allreduce convert: %s%s\n", what, problem->text);
    else if (error == AR_ERR_SYNTAX)
        fprintf(stderr, "allreduce convert: %sline %d, column %d: %s\n", what, problem->line,
                problem->column, problem->text);
    else
        fprintf(stderr, "allreduce convert: out of memory\n");
    return error == AR_ERR_SYNTAX ? AR_EXIT_USAGE : AR_EXIT_FAILED;
}

static void
print_notes(const char *before, const char *notes)
{
    for (const char *end; notes && *notes; notes = end + 1) {
        end = strchr(notes, '\n');
        fprintf(stderr, "allreduce convert: %s%.*s\n", before, (int)(end - notes), notes);
    }
}

/* Translates the library's setting, or rules (AR_LIBRARIES), to what is asked for.  what: what
 * errors begin with; before: what notes begin with.  Returns an enum ar_exit; *result is malloced.
 */
static int
translate(char **result, enum ar_foreign to, enum ar_foreign from, const char *text, int radix,
          const char *what, const char *before)
{
    struct ar_translation in = {0}, out = {0};
    struct ar_problem problem;
    struct ar_rules *rules = NULL;
    int error = AR_OK;
    if (from == AR_LIBRARY_OPENMPI && ar_openmpi_is_json(text)) {
        ar_cli_need_jansson("convert: JSON");
        error = ar_openmpi_translate_json(&in, text, &problem);
    } else if (from < AR_LIBRARIES) {
        error = ar_translate_from(&in, from, text, radix, &problem);
    }
    if (!error && to < AR_LIBRARIES) {
        error = ar_rules_parse_lines(&rules, in.text ? in.text : text, &problem);
        if (!error)
            error = ar_translate_to(&out, to, rules, &problem);
    }
    struct ar_translation *const last = out.text ? &out : &in;
    if (!error) {
        print_notes(before, in.notes);
        print_notes(before, out.notes);
        *result = last->text;
        last->text = NULL;
    }
    ar_rules_destroy(rules);
    ar_translation_fini(&in);
    ar_translation_fini(&out);
    return error ? fail(what, &problem, error) : AR_EXIT_DONE;
}

static void
print(const char *result)
{
    const size_t length = strlen(result);
    printf("%s%s", result, length > 0 && result[length - 1] == '\n' ? "" : "\n");
}

/* --- settings in a text --- */

struct conversion {
    const struct request *request;
    const char *file; /* whose text has the settings; NULL: the operand has them */
    int radix;        /* of UCC's knomial; 0: none is set */
    bool has_tune;    /* is UCC_TL_UCP_TUNE set, to which the radix belongs? */
    char *first;      /* the first translation; NULL: none yet */
    bool differ;      /* are there others than that? */
    FILE *told, *all; /* what was translated, a line each; the same with the translations */
};

static bool
is_named(const struct ar_foreign_setting *setting, const char *name)
{
    return setting->name.length == strlen(name) &&
           memcmp(setting->name.at, name, setting->name.length) == 0;
}

static bool
is_radix(const struct ar_foreign_setting *setting)
{
    return is_named(setting, "UCC_TL_UCP_ALLREDUCE_KN_RADIX");
}

/* Why there is nothing to translate in a setting of a library; NULL: there is. */
static const char *
why_none(const struct conversion *c, const struct ar_foreign_setting *setting)
{
    if (setting->why)
        return setting->why;
    if (memchr(setting->value.at, '$', setting->value.length))
        return "its value is another variable's, which convert does not know";
    if (is_radix(setting) && c->radix == 0)
        return "only a whole number from 2 on is understood";
    return is_radix(setting) && c->has_tune ? "it is the radix of knomial in UCC_TL_UCP_TUNE"
                                            : NULL;
}

static int
keep(struct conversion *c, const struct ar_foreign_setting *setting, const char *what, char *result)
{
    char header[512];
    snprintf(header, sizeof header, "%s%.*s (%s)", what, (int)setting->value.length,
             setting->value.at, ar_library_titles[setting->library]);
    fprintf(c->told, "%s\n", header);
    fprintf(c->all, "# %s\n%s%s", header, result, strchr(result, '\n') ? "" : "\n");
    c->differ |= c->first && strcmp(c->first, result) != 0;
    if (c->first)
        free(result);
    else
        c->first = result;
    return AR_EXIT_DONE;
}

static int
convert_setting(struct conversion *c, const struct ar_foreign_setting *setting)
{
    char what[512] = "", *text, *result;
    struct ar_text t;
    ar_text_init(&t, what, sizeof what);
    if (c->file)
        ar_text_add(&t, "%s: line %d: ", c->file, setting->line);
    ar_text_add(&t, "%.*s: ", (int)setting->name.length, setting->name.at);
    const char *const why = why_none(c, setting);
    if (why) {
        fprintf(stderr, "allreduce convert: %sno translation: %s\n", what, why);
        return AR_EXIT_DONE;
    }
    text =
        is_radix(setting) ? strdup("@knomial") : strndup(setting->value.at, setting->value.length);
    if (text && setting->library == AR_LIBRARY_OPENMPI &&
        memmem(setting->name.at, setting->name.length, "filename", 8)) {
        char *const path = text;
        text = ar_cli_read_text("convert", what, path, AR_INPUT_MAX);
        free(path);
    }
    if (!text)
        return AR_EXIT_FAILED;
    const int error =
        translate(&result, c->request->to, setting->library, text,
                  setting->library == AR_LIBRARY_UCC ? c->radix : 0, what, c->file ? what : "");
    free(text);
    return error ? error : keep(c, setting, what, result);
}

/* What the settings say together, and how many there are of the library that is asked for. */
static size_t
look_through(struct conversion *c, const char *text, struct ar_foreign_setting *last)
{
    const enum ar_foreign from = c->request->from;
    struct ar_foreign_settings in = {.text = text, .at = text, .line = 1};
    size_t n = 0;
    while (ar_foreign_setting_next(&in, last)) {
        n += from == AR_LIBRARIES || last->library == from;
        c->has_tune |= is_named(last, "UCC_TL_UCP_TUNE");
        if (is_radix(last) && !ar_word_int(last->value, 2, INT_MAX, &c->radix))
            c->radix = 0;
    }
    return n;
}

static int
convert_settings(struct conversion *c, const char *text)
{
    struct ar_foreign_settings in = {.text = text, .at = text, .line = 1};
    struct ar_foreign_setting setting;
    char *told = NULL, *all = NULL;
    size_t size;
    int status = AR_EXIT_FAILED;
    c->told = open_memstream(&told, &size);
    c->all = open_memstream(&all, &size);
    if (c->told && c->all) {
        status = AR_EXIT_DONE;
        while (ar_foreign_setting_next(&in, &setting))
            if (c->request->from == AR_LIBRARIES || setting.library == c->request->from) {
                const int error = convert_setting(c, &setting);
                status = error > status ? error : status;
            }
    }
    if (c->told)
        fclose(c->told);
    if (c->all)
        fclose(c->all);
    if (c->first && !c->differ && c->file)
        print_notes("", told);
    if (c->first)
        print(c->differ ? all : c->first);
    else if (!status)
        status = AR_EXIT_FAILED;
    free(told);
    free(all);
    free(c->first);
    return status;
}

/* --- the whole --- */

/* Where neither the text nor the command line says what it is. */
static int
refuse(const struct request *request, bool is_file, const struct ar_foreign_setting *other)
{
    char known[640];
    struct ar_text t;
    const size_t length = strcspn(request->operand, "=(:; \t\n");
    ar_text_init(&t, known, sizeof known);
    ar_text_settings(&t);
    if (other)
        fprintf(stderr, "allreduce convert: %.*s is a setting of %s, not of %s\n",
                (int)other->name.length, other->name.at, ar_library_titles[other->library],
                ar_library_titles[request->from]);
    else if (is_file)
        fprintf(stderr,
                "allreduce convert: %s: it has no setting of a known library; give "
                "--from=LIBRARY if it is the text of one, or --to=LIBRARY if it is rules; known: "
                "%s\n",
                request->operand, known);
    else if (request->operand[length] == '=')
        fprintf(stderr,
                "allreduce convert: %.*s is not a variable of a known library; allowed: %s\n",
                (int)length, request->operand, known);
    else
        fprintf(stderr,
                "allreduce convert: give --from=LIBRARY or --to=LIBRARY; libraries: " LIBRARIES
                "\n");
    return AR_EXIT_USAGE;
}

static int
convert(const struct request *request, const char *text, bool is_file)
{
    struct conversion c = {.request = request, .file = is_file ? request->operand : NULL};
    struct ar_foreign_setting last = {.library = AR_LIBRARIES};
    char what[32], *result;
    if (look_through(&c, text, &last) > 0)
        return convert_settings(&c, text);
    if (last.library < AR_LIBRARIES)
        return refuse(request, is_file, &last);
    const bool is_named = !is_file && text[strcspn(text, "=(:; \t\n")] == '=';
    if (is_named || request->from == request->to)
        return refuse(request, is_file, NULL);
    snprintf(what, sizeof what,
             "%s: ", request->from < AR_LIBRARIES ? ar_library_titles[request->from] : "rules");
    const int status = translate(&result, request->to, request->from, text, 0, what, "");
    if (!status) {
        print(result);
        free(result);
    }
    return status;
}

int
ar_cli_convert(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse_option,
        .args_doc = "TEXT\nFILE\nNAME=VALUE",
        .doc = "Translate the settings of other libraries to rules, or rules to their settings.  "
               "In a job script, a module file or a parameter file, each setting is found by its "
               "name. What has no counterpart is reported on stderr.",
    };
    struct request request = {.from = AR_LIBRARIES, .to = AR_LIBRARIES};
    ar_cli_parse_alone(&argp, 0, argc, argv, &request);

    const bool is_file = access(request.operand, F_OK) == 0 || is_file_name(request.operand);
    char *const text = is_file ? ar_cli_read_text("convert", "", request.operand, AR_INPUT_MAX)
                               : strdup(request.operand);
    const int status = text ? convert(&request, text, is_file) : AR_EXIT_FAILED;
    free(text);
    return status;
}
