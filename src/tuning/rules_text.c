#include "tuning/rules_text.h"

#include "config/files.h"

void
ar_rules_header_write(FILE *to, const char *how, const char *by, const char *job)
{
    fprintf(to, "# For ALLREDUCE_RULES; %s %s\n" AR_PROVENANCE_MARK "%s\n", how, by, job);
}

void
ar_rules_clause_write(FILE *to, const struct ar_choice *choice, size_t from, size_t end,
                      const struct ar_request *request, unsigned asks)
{
    char name[AR_CHOICE_TEXT], first[AR_SIZE_TEXT], last[AR_SIZE_TEXT], traits[AR_TRAITS_TEXT];
    struct ar_text t;
    fprintf(to, "%s:%s-%s", ar_choice_print(choice, name, sizeof name),
            ar_size_print(from, first, sizeof first), ar_size_print(end, last, sizeof last));
    if (request->nranks > 0)
        fprintf(to, "@%d", request->nranks);
    ar_text_init(&t, traits, sizeof traits);
    ar_request_print(&t, request, asks);
    fprintf(to, "%s%s", asks ? "," : "", asks ? traits : "");
}
