#include "cli/translate.h"

#include <stdarg.h>
#include <stdlib.h>

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
