/* Choices and rules as texts that the parser reads back. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "select/names.h"

char *
ar_choice_print(const struct ar_choice *choice, char *text, size_t room)
{
    struct ar_text t;
    ar_text_init(&t, text, room);
    if (choice->kind == AR_CHOICE_ALGORITHM) {
        ar_text_add(&t, "%s", choice->algorithm->name);
        ar_params_print(&t, &choice->params, choice->algorithm);
    } else {
        ar_text_add(&t, choice->kind == AR_CHOICE_AUTO ? "auto" : "native");
    }
    return text;
}

static void
write_condition(FILE *out, const struct ar_condition *c)
{
    char size[AR_SIZE_TEXT];
    fputs(ar_size_print(c->bytes_min, size, sizeof size), out);
    if (c->bytes_max != c->bytes_min)
        fprintf(out, "-%s", ar_size_print(c->bytes_max, size, sizeof size));
    if (c->ranks_min == 0 && c->ranks_max == SIZE_MAX)
        return;
    fprintf(out, "@%zu", c->ranks_min); /* not as sizes: 1024 ranks are not 1K */
    if (c->ranks_max == SIZE_MAX)
        fputs("-inf", out);
    else if (c->ranks_max != c->ranks_min)
        fprintf(out, "-%zu", c->ranks_max);
}

static void
write_clause(FILE *out, const struct ar_clause *clause)
{
    char choice[AR_CHOICE_TEXT], traits[AR_TRAITS_TEXT];
    struct ar_text t;
    fputs(ar_choice_print(&clause->choice, choice, sizeof choice), out);
    for (size_t k = 0; k < clause->nconditions; k++) {
        fputc(k == 0 ? ':' : ',', out);
        write_condition(out, &clause->conditions[k]);
    }
    ar_text_init(&t, traits, sizeof traits);
    ar_traits_print(&t, &clause->traits);
    if (*traits)
        fprintf(out, "%c%s", clause->nconditions ? ',' : ':', traits);
}

char *
ar_rules_text(const struct ar_rules *rules)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (size_t i = 0; i < rules->nclauses; i++) {
        if (i > 0)
            fputc(';', out);
        write_clause(out, &rules->clauses[i]);
    }
    const int failed = ferror(out);
    if (fclose(out) || failed) {
        free(text);
        return NULL;
    }
    return text;
}
