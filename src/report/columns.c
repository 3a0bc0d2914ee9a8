#include "report/columns.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "report/json.h"
#include "select/number.h"

/* Of a row: before its first cell, between cells, and behind the last one. */
static const struct {
    const char *begin, *between, *end;
} marks[] = {
    [AR_COLUMNS_TEXT] = {"", "", "\n"},           [AR_COLUMNS_MARKDOWN] = {"| ", " | ", " |\n"},
    [AR_COLUMNS_CSV] = {"", ",", "\n"},           [AR_COLUMNS_JSON] = {"  {", ", ", "}"},
    [AR_COLUMNS_JSON_LINES] = {"{", ", ", "}\n"},
};

static bool
is_for_people(const struct ar_columns *c)
{
    return c->format <= AR_COLUMNS_MARKDOWN;
}

/* Is the column to be written at this time? */
static bool
is_due(const struct ar_columns *c, const char *name)
{
    const size_t length = is_for_people(c) ? strcspn(c->wanted, " ") : 0;
    return !is_for_people(c) || (strncmp(name, c->wanted, length) == 0 && name[length] == '\0');
}

/* --- one cell --- */

static void
write_csv(FILE *to, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, to);
        return;
    }
    fputc('"', to);
    for (; *text; text++)
        fprintf(to, *text == '"' ? "\"\"" : "%c", *text);
    fputc('"', to);
}

/* Spaces are written only before a text, so that no line ends with them. */
static void
write_aligned(struct ar_columns *c, int width, bool is_left, const char *text)
{
    const int length = (int)strlen(text), rest = width > length ? width - length : 0;
    c->spaces += (c->at == 0 ? 0 : is_left ? 2 : 1) + (is_left ? 0 : rest);
    if (length > 0) {
        fprintf(c->to, "%*s%s", c->spaces, "", text);
        c->spaces = 0;
    }
    c->spaces += is_left ? rest : 0;
}

static void
show(struct ar_columns *c, const char *title, bool is_text, const char *text)
{
    const char *const empty = c->empty ? c->empty : "";
    const char *const shown = c->part == AR_COLUMNS_HEAD ? title
                              : !text                    ? "-"
                              : *text                    ? text
                                                         : empty;
    int *const width = &c->widths[c->at];
    if (c->format == AR_COLUMNS_MARKDOWN)
        fprintf(c->to, "%s%s", c->at > 0 ? marks[c->format].between : "", shown);
    else if (c->part == AR_COLUMNS_WIDTHS)
        *width = (int)strlen(shown) > *width ? (int)strlen(shown) : *width;
    else
        write_aligned(c, (int)strlen(title) > *width ? (int)strlen(title) : *width, is_text, shown);
}

static void
begin_value(struct ar_columns *c, const char *name)
{
    fputs(c->at++ > 0 ? marks[c->format].between : "", c->to);
    if (c->format >= AR_COLUMNS_JSON)
        fprintf(c->to, "\"%s\": ", name);
}

/* text NULL: not known. */
static void
put(struct ar_columns *c, const char *name, const char *title, bool is_text, const char *text)
{
    if (!is_due(c, name))
        return;
    if (is_for_people(c)) {
        show(c, title, is_text, text);
        return;
    }
    begin_value(c, name);
    if (c->format == AR_COLUMNS_CSV)
        write_csv(c->to, c->part == AR_COLUMNS_HEAD ? name : text ? text : "");
    else if (is_text && text)
        ar_json_string(c->to, text);
    else
        fputs(text ? text : "null", c->to);
}

void
ar_column_text(struct ar_columns *c, const char *name, const char *title, const char *text)
{
    put(c, name, title, true, text);
}

void
ar_column_words(struct ar_columns *c, const char *name, const char *title, const char *text)
{
    if (is_for_people(c))
        put(c, name, title, true, text);
}

void
ar_column_shown(struct ar_columns *c, const char *name, const char *title, const char *text)
{
    if (is_for_people(c))
        put(c, name, title, false, text);
}

void
ar_column_count(struct ar_columns *c, const char *name, enum ar_unit unit, const char *title,
                uint64_t number)
{
    char text[AR_NUMBER_TEXT];
    if (!is_due(c, name))
        return;
    if (!is_for_people(c) || unit == AR_NUMBER)
        snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    else if (unit == AR_BYTES)
        ar_bytes_print((double)number, text, sizeof text);
    else
        ar_number_print((double)number * (unit == AR_NS_MS ? 1e-6 : 1e-3), text, sizeof text);
    put(c, name, title, false, number == AR_UNKNOWN ? NULL : text);
}

void
ar_column_real(struct ar_columns *c, const char *name, enum ar_unit unit, const char *title,
               double number)
{
    /* JSON has no infinity. */
    const bool is_known = c->format < AR_COLUMNS_JSON ? !isnan(number) : isfinite(number);
    char text[AR_NUMBER_TEXT];
    if (!is_due(c, name))
        return;
    if (!is_for_people(c))
        snprintf(text, sizeof text, "%.9g", number);
    else if (unit == AR_GBS)
        ar_rate_print(number, text, sizeof text);
    else
        ar_number_print(number, text, sizeof text);
    put(c, name, title, false, is_known ? text : NULL);
}

FILE *
ar_column_json(struct ar_columns *c, const char *name)
{
    if (c->format < AR_COLUMNS_JSON)
        return NULL;
    begin_value(c, name);
    return c->to;
}

void
ar_column_flag(struct ar_columns *c, const char *name, int is_set)
{
    FILE *const to = ar_column_json(c, name);
    if (to)
        fputs(is_set < 0 ? "null" : is_set ? "true" : "false", to);
}

/* --- lines --- */

/* For people the row is stated once for each column of the view, since it has another order. */
static void
state(struct ar_columns *c, size_t i)
{
    c->at = c->spaces = 0;
    if (c->prefix && c->part != AR_COLUMNS_WIDTHS)
        fputs(c->prefix, c->to);
    if (!is_for_people(c))
        c->row(c, c->table, i);
    for (c->wanted = c->view; is_for_people(c) && *c->wanted; c->at++) {
        c->row(c, c->table, i);
        c->wanted += strcspn(c->wanted, " ");
        c->wanted += strspn(c->wanted, " ");
    }
}

static void
write_head(struct ar_columns *c)
{
    const bool is_colored = c->format == AR_COLUMNS_TEXT && c->colors[0];
    c->part = AR_COLUMNS_HEAD;
    fprintf(c->to, "%s%s", is_colored ? c->colors[0] : "", marks[c->format].begin);
    state(c, 0);
    fprintf(c->to, "%s%s", marks[c->format].end, is_colored ? c->colors[1] : "");
    for (int k = 0; k < c->at && c->format == AR_COLUMNS_MARKDOWN; k++)
        fprintf(c->to, "|---%s", k + 1 < c->at ? "" : "|\n");
}

void
ar_columns_write(struct ar_columns c)
{
    const bool has_head = c.first == 0 && (c.n > 0 || c.format == AR_COLUMNS_CSV);
    c.part = AR_COLUMNS_WIDTHS;
    for (size_t i = 0; i < c.n && c.format == AR_COLUMNS_TEXT; i++)
        state(&c, i);
    if (c.format < AR_COLUMNS_JSON && has_head)
        write_head(&c);
    c.part = AR_COLUMNS_ROW;
    fputs(c.format == AR_COLUMNS_JSON ? "[\n" : "", c.to);
    for (size_t i = c.first; i < c.n; i++) {
        fputs(marks[c.format].begin, c.to);
        state(&c, i);
        fputs(marks[c.format].end, c.to);
        if (c.format == AR_COLUMNS_JSON)
            fputs(i + 1 < c.n ? ",\n" : "\n", c.to);
    }
    fputs(c.format == AR_COLUMNS_JSON ? "]\n" : "", c.to);
}

void
ar_columns_write_alone(struct ar_columns c)
{
    const bool is_json = c.format == AR_COLUMNS_JSON;
    fputs(is_json ? "{\"format\": 1,\n\"rows\": " : "", c.to);
    ar_columns_write(c);
    fputs(is_json ? "}\n" : "", c.to);
}
