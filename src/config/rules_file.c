#include "config/rules_file.h"

#include <stdlib.h>
#include <string.h>

#include "config/text_file.h"

static int
parse_text(struct ar_rules **rules, const char *text, struct ar_text *why)
{
    struct ar_problem problem = {0, 0, ""};
    const int error = ar_rules_parse_lines(rules, text, &problem);
    if (error == AR_ERR_SYNTAX)
        ar_text_add(why, "%d:%d: %s", problem.line, problem.column, problem.text);
    return error;
}

/* Malloced; NULL where no line begins with the mark. */
static char *
find_provenance(const char *text)
{
    const char *at = text;
    const size_t mark = strlen(AR_PROVENANCE_MARK);
    while (at && strncmp(at, AR_PROVENANCE_MARK, mark) != 0) {
        at = strchr(at, '\n');
        at += at != NULL;
    }
    return at ? strndup(at + mark, strcspn(at + mark, "\n")) : NULL;
}

int
ar_rules_file_read(struct ar_rules **rules, char **tuned, const char *path, struct ar_text *why)
{
    char *text;
    int error = ar_text_file_read(&text, path, why);
    if (error)
        return error;
    error = parse_text(rules, text, why);
    if (!error && tuned)
        *tuned = find_provenance(text);
    free(text);
    return error;
}
