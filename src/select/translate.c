#include "select/translate.h"

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
ar_translator_begin(struct ar_translator *x, struct ar_translation *to, enum ar_library library,
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
    for (int i = 0; i < 2; i++)
        if (!files[i] || ferror(files[i]) | fclose(files[i]))
            error = error ? error : AR_ERR_MEMORY;
    if (error)
        ar_translation_fini(x->to);
    return error;
}

void
ar_translator_note(struct ar_translator *x, const char *format, ...)
{
    char line[AR_PROBLEM_TEXT];
    va_list values;
    va_start(values, format);
    vsnprintf(line, sizeof line, format, values);
    va_end(values);
    if (fflush(x->notes) == 0 && !strstr(x->to->notes, line))
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
ar_translator_write_range(struct ar_translator *x, struct ar_range r)
{
    fprintf(x->text, "%zu", r.min);
    if (r.max == SIZE_MAX)
        fputs("-inf", x->text);
    else if (r.max != r.min)
        fprintf(x->text, "-%zu", r.max);
}
