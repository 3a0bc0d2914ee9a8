#include "translate/translate.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* --- a translation under way --- */

void
ar_translation_fini(struct ar_translation *t)
{
    free(t->text);
    free(t->notes);
    *t = (struct ar_translation){0};
}

bool
ar_translator_begin(struct ar_translator *x, struct ar_translation *to, enum ar_foreign library,
                    const char *text, struct ar_problem *problem)
{
    *to = (struct ar_translation){0};
    *problem = (struct ar_problem){.line = 1, .column = 1};
    *x = (struct ar_translator){
        .library = library, .to = to, .begin = text, .at = text, .problem = problem};
    ar_text_init(&x->why, problem->text, sizeof problem->text);
    x->text = open_memstream(&to->text, &x->text_size);
    x->notes = open_memstream(&to->notes, &x->notes_size);
    return x->text && x->notes;
}

int
ar_translator_end(struct ar_translator *x, int error)
{
    FILE *const files[] = {x->text, x->notes};
    for (int i = 0; i < 2; i++) {
        const bool failed = !files[i] || ferror(files[i]);
        if ((files[i] && fclose(files[i])) || failed)
            error = error ? error : AR_ERR_MEMORY;
    }
    if (error)
        ar_translation_fini(x->to);
    return error;
}

int
ar_translator_end_rules(struct ar_translator *x, int error)
{
    struct ar_translation *const t = x->to;
    struct ar_rules *rules;
    error = ar_translator_end(x, error);
    if (error)
        return error;
    error = ar_rules_parse_lines(&rules, t->text, x->problem);
    if (!error) {
        free(t->text);
        t->text = ar_rules_text(rules);
        ar_rules_destroy(rules);
        error = t->text ? AR_OK : AR_ERR_MEMORY;
    }
    if (error)
        ar_translation_fini(t);
    return error;
}

/* Each of the notes ends with a newline. */
static bool
is_told(const char *notes, const char *line)
{
    const size_t length = strlen(line);
    for (const char *end; *notes; notes = end + 1) {
        end = strchr(notes, '\n');
        if ((size_t)(end - notes) == length && memcmp(notes, line, length) == 0)
            return true;
    }
    return false;
}

void
ar_translator_note(struct ar_translator *x, const char *format, ...)
{
    char line[AR_PROBLEM_TEXT];
    va_list values;
    va_start(values, format);
    vsnprintf(line, sizeof line, format, values);
    va_end(values);
    if (fflush(x->notes) == 0 && !is_told(x->to->notes, line))
        fprintf(x->notes, "%s\n", line);
}

int
ar_translator_refuse(struct ar_translator *x, const char *at)
{
    for (const char *c = x->begin; c < at; c++) {
        x->problem->line += *c == '\n';
        x->problem->column = *c == '\n' ? 1 : x->problem->column + 1;
    }
    return AR_ERR_SYNTAX;
}

void
ar_translator_write_range(struct ar_translator *x, struct ar_bounds r)
{
    fprintf(x->text, "%zu", r.min);
    if (r.max == SIZE_MAX)
        fputs("-inf", x->text);
    else if (r.max != r.min)
        fprintf(x->text, "-%zu", r.max);
}

const struct ar_counterpart *
ar_translator_find(struct ar_translator *x, struct ar_word word)
{
    const struct ar_counterpart *const c = ar_counterpart_find(x->library, word);
    if (!c) {
        ar_text_add(&x->why, "%s has no allreduce algorithm ", ar_library_titles[x->library]);
        ar_text_quote(&x->why, word);
        ar_text_add(&x->why, "; allowed: ");
        ar_text_counterparts(&x->why, x->library);
        ar_translator_refuse(x, word.at);
    }
    return c;
}

void
ar_translator_write(struct ar_translator *x, const struct ar_foreign_rule *rule)
{
    const struct ar_counterpart *const c = rule->is;
    const struct ar_bounds any = AR_ANY_BOUNDS;
    const bool any_ranks = memcmp(&rule->ranks, &any, sizeof any) == 0;
    const bool has_sizes = !any_ranks || memcmp(&rule->sizes, &any, sizeof any) != 0;
    const char *const choice = c->choice ? c->choice : "native";
    if (!c->choice)
        ar_translator_note(x, "%s's %s has no counterpart here: %s", ar_library_titles[c->library],
                           c->name, c->note);
    else if (c->note)
        ar_translator_note(x, "%s's %s is %s: %s", ar_library_titles[c->library], c->name, choice,
                           c->note);
    fputs(choice, x->text);
    if (x->radix > 0 && strcmp(choice, "knomial") == 0)
        fprintf(x->text, "(radix=%d)", x->radix);
    if (rule->segment > 0)
        fprintf(x->text, "(segment=%zu)", rule->segment);
    if (has_sizes || rule->asks)
        fputc(':', x->text);
    if (has_sizes)
        ar_translator_write_range(x, rule->sizes);
    if (!any_ranks) {
        fputc('@', x->text);
        ar_translator_write_range(x, rule->ranks);
    }
    if (rule->asks)
        fprintf(x->text, "%s%s", has_sizes ? "," : "", rule->asks);
    fputs(";\n", x->text);
}

/* --- from settings to rules --- */

static int
read_name(struct ar_translator *x)
{
    const struct ar_word word = ar_word_next(&x->at, "");
    const struct ar_counterpart *const c = ar_translator_find(x, word);
    if (c)
        ar_translator_write(x, &(struct ar_foreign_rule){c, AR_ANY_BOUNDS, AR_ANY_BOUNDS, NULL, 0});
    return c ? AR_OK : AR_ERR_SYNTAX;
}

/* "0-4k", "4k" or "4k-max"; the end of one range may be the beginning of the next, to which it
 * belongs. */
static bool
take_range(struct ar_translator *x, struct ar_bounds *r)
{
    const char *at = x->at, *end;
    if (ar_size_parse(&r->min, at, &end) == AR_OK) {
        at = end;
        r->max = r->min;
        if (strncmp(at, "-max", 4) == 0) {
            r->max = SIZE_MAX;
            x->at = at + 4;
            return true;
        }
        if (*at != '-' || ar_size_parse(&r->max, at + 1, &end) == AR_OK) {
            x->at = end;
            return r->max >= r->min;
        }
    }
    return false;
}

/* Reads names with ',' between them.  False if one is none of names; else *has says whether one is
 * name. */
static bool
read_names(struct ar_word list, const char *const *names, const char *name, bool *has)
{
    bool is_there = false;
    for (const char *at = list.at; at < list.at + list.length; at += *at == ',') {
        const struct ar_word word = ar_word_next(&at, ",:#");
        if (ar_word_among(word, names) < 0)
            return false;
        is_there |= ar_word_is(word, name);
    }
    *has = is_there;
    return true;
}

/* One token of UCC's: fields in any order with ':' between them, each known by how it looks.  Only
 * what is about allreduces in host memory becomes a clause. */
static int
read_token(struct ar_translator *x)
{
    static const char *const collectives[] = {
        "allgather", "allgatherv", "allreduce",      "alltoall",        "alltoallv", "barrier",
        "bcast",     "fanin",      "fanout",         "gather",          "gatherv",   "reduce",
        "scatter",   "scatterv",   "reduce_scatter", "reduce_scatterv", NULL};
    static const char *const memory_types[] = {"host",         "cuda", "cuda_managed",
                                               "rocm_managed", "rocm", NULL};
    struct ar_foreign_rule rule = {.sizes = AR_ANY_BOUNDS, .ranks = AR_ANY_BOUNDS};
    struct ar_word algorithm = {0}, memory = {0};
    bool is_ours = true, is_in_host = true, is_forbidden = false;
    while (*x->at && *x->at != '#') {
        const struct ar_word word = ar_word_next(&x->at, ":#");
        struct ar_translator inside = *x;
        inside.at = word.at + (*word.at == '[');
        if (*word.at == '@') {
            algorithm = (struct ar_word){word.at + 1, word.length - 1};
        } else if (*word.at == '[') {
            if (!take_range(&inside, &rule.ranks) || *inside.at != ']') {
                ar_text_add(&x->why, "expected ranks as in [2-8]");
                return ar_translator_refuse(x, word.at);
            }
        } else if (ar_is_digit(*word.at) && memchr(word.at, '-', word.length)) {
            if (!take_range(&inside, &rule.sizes) || inside.at != word.at + word.length) {
                ar_text_add(&x->why, "expected sizes as in 0-4K");
                return ar_translator_refuse(x, word.at);
            }
        } else if (ar_word_is(word, "0")) {
            is_forbidden = true; /* by its score */
        } else if (word.length && read_names(word, memory_types, "host", &is_in_host)) {
            memory = word;
        } else if (word.length && !ar_is_digit(*word.at) && !ar_word_is(word, "inf") &&
                   !read_names(word, collectives, "allreduce", &is_ours)) {
            ar_text_add(&x->why, "expected a collective, sizes, [ranks], a memory type, a score or "
                                 "@algorithm");
            return ar_translator_refuse(x, word.at);
        }
        x->at += *x->at == ':';
    }
    x->at += *x->at == '#';
    if (rule.sizes.max != SIZE_MAX && rule.sizes.max > rule.sizes.min)
        rule.sizes.max--;
    if (!algorithm.at || !is_ours || is_forbidden)
        return AR_OK;
    if (!is_in_host) {
        ar_translator_note(x,
                           "UCC's algorithm for %.*s is left out: rules here are for host memory",
                           (int)memory.length, memory.at);
        return AR_OK;
    }
    rule.is = ar_translator_find(x, algorithm);
    if (rule.is)
        ar_translator_write(x, &rule);
    return rule.is ? AR_OK : AR_ERR_SYNTAX;
}

/* Where none is about allreduces in host memory, UCC decides. */
static int
read_tokens(struct ar_translator *x)
{
    int error = AR_OK;
    while (!error && *x->at)
        error = read_token(x);
    if (!error && ftell(x->text) == 0) {
        ar_translator_note(x, "UCC's setting names no algorithm for allreduces in host memory");
        fputs("native;\n", x->text);
    }
    return error;
}

/* oneCCL's algorithms, each with a range of sizes or for all. */
static int
read_ranges(struct ar_translator *x)
{
    while (*x->at) {
        struct ar_foreign_rule rule = {.sizes = AR_ANY_BOUNDS, .ranks = AR_ANY_BOUNDS};
        rule.is = ar_translator_find(x, ar_word_next(&x->at, ":;"));
        if (!rule.is)
            return AR_ERR_SYNTAX;
        if (*x->at == ':') {
            x->at++;
            if (!take_range(x, &rule.sizes) || (*x->at && *x->at != ';')) {
                ar_text_add(&x->why, "expected sizes as in 0-8192 or 8193-max");
                return ar_translator_refuse(x, x->at);
            }
        }
        ar_translator_write(x, &rule);
        x->at += *x->at == ';';
    }
    return AR_OK;
}

/* NCCL's lists, of which that of allreduce goes before that of all collectives. */
static int
read_lists(struct ar_translator *x)
{
    char names[AR_PROBLEM_TEXT];
    struct ar_text allowed;
    const struct ar_counterpart *one = NULL;
    const char *list = "^";
    ar_text_init(&allowed, names, sizeof names);
    for (bool is_ours = false; *x->at; x->at += *x->at == ';') {
        const struct ar_word part = ar_word_next(&x->at, ";");
        const char *const colon = memchr(part.at, ':', part.length);
        const bool names_us =
            colon && ar_word_is((struct ar_word){part.at, (size_t)(colon - part.at)}, "allreduce");
        if (names_us || (!colon && !is_ours))
            list = names_us ? colon + 1 : part.at;
        is_ours |= names_us;
    }
    for (size_t i = 0; i < ar_counterpart_count(); i++) {
        const struct ar_counterpart *const c = ar_counterpart_at(i);
        const bool but = *list == '^';
        bool is_named = false;
        for (x->at = list + but; *x->at && *x->at != ';'; x->at += *x->at == ',') {
            const struct ar_counterpart *const named =
                ar_translator_find(x, ar_word_next(&x->at, ",;"));
            if (!named)
                return AR_ERR_SYNTAX;
            is_named |= named == c;
        }
        if (c->library == x->library && is_named != but && c->choice) {
            ar_text_add(&allowed, "%s%s", one ? "," : "", c->choice);
            one = c;
        } else if (c->library == x->library && is_named && !but) {
            ar_translator_note(x, "NCCL's %s has no counterpart here: %s", c->name, c->note);
        }
    }
    if (!one && *list == '^')
        ar_translator_note(x, "NCCL keeps only algorithms that have no counterpart here");
    if (strchr(names, ','))
        ar_translator_note(
            x, "NCCL chooses among several algorithms, as auto does: set ALLREDUCE_ALGO_LIST=%s",
            names);
    fprintf(x->text, "%s;\n", strchr(names, ',') ? "auto" : one ? one->choice : "native");
    return AR_OK;
}

/* A list of numbers, as in 1-4,6, has no sizes; its grammar and that of clauses are part of ours.
 */
static void
read_intel(struct ar_translator *x)
{
    const char *const text = x->begin;
    const bool is_list = strpbrk(text, ",-") && text[strspn(text, "0123456789,- \t\r\n")] == '\0';
    if (strpbrk(text, "123456789"))
        ar_translator_note(x, AR_INTEL_PRESETS);
    if (is_list)
        ar_translator_note(x,
                           "Intel MPI chooses among several algorithms, as auto does: set "
                           "ALLREDUCE_ALGO_LIST=%s",
                           text);
    fputs(is_list ? "auto" : text, x->text);
}

/* Refuses what is no setting of the library at all, such as a file of another kind. */
static int
check_kind(struct ar_translator *x)
{
    static const char *const settings[AR_LIBRARIES] = {
        [AR_LIBRARY_INTEL] = "a value of I_MPI_ADJUST_ALLREDUCE",
        [AR_LIBRARY_OPENMPI] = "an algorithm or a dynamic rules file",
        [AR_LIBRARY_MPICH] = "an algorithm, as in MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM",
        [AR_LIBRARY_UCC] = "a value of UCC_TL_UCP_TUNE",
        [AR_LIBRARY_NCCL] = "a value of NCCL_ALGO",
        [AR_LIBRARY_ONECCL] = "a value of CCL_ALLREDUCE",
    };
    const char *rest = x->begin;
    const struct ar_word all = ar_word_next(&rest, "");
    const bool may_have_lines = x->library == AR_LIBRARY_INTEL || x->library == AR_LIBRARY_OPENMPI;
    const char *const found = all.length == 0  ? "nothing"
                              : *all.at == '{' ? "JSON"
                              : !may_have_lines && memchr(all.at, '\n', all.length)
                                  ? "several lines"
                                  : NULL;
    const char *behind = all.at + strcspn(all.at, "=(:;,@[^# \t\r\n");
    behind += strspn(behind, " \t");
    if (!found && *behind != '=')
        return AR_OK;
    ar_text_add(&x->why, "expected %s, found %s", settings[x->library],
                found ? found : "NAME=VALUE");
    return ar_translator_refuse(x, all.at);
}

int
ar_translate_from(struct ar_translation *t, enum ar_foreign library, const char *text, int radix,
                  struct ar_problem *problem)
{
    struct ar_translator x;
    int error = AR_ERR_MEMORY;
    if (!ar_translator_begin(&x, t, library, text, problem))
        return ar_translator_end(&x, error);
    x.radix = radix;
    const char *const word = text + strspn(text, " \t\r\n");
    error = check_kind(&x);
    if (error)
        return ar_translator_end(&x, error);
    switch (library) {
    case AR_LIBRARY_INTEL:
        read_intel(&x);
        error = AR_OK;
        break;
    case AR_LIBRARY_OPENMPI: /* a file has several words */
        error = strpbrk(word, " \t\r\n#") ? ar_translator_read_rules_file(&x) : read_name(&x);
        break;
    case AR_LIBRARY_UCC:
        error = read_tokens(&x);
        break;
    case AR_LIBRARY_NCCL:
        error = read_lists(&x);
        break;
    case AR_LIBRARY_ONECCL:
        error = read_ranges(&x);
        break;
    default:
        error = read_name(&x);
    }
    return ar_translator_end_rules(&x, error);
}
