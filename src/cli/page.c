#include <config.h>

#include "cli/page.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "config/output.h"
#include "page_files.h" /* made from src/page */

/* What stands in the place of a mark of page.html. */
struct filling {
    const char *mark;
    const char *text;
    void (*put)(FILE *to, const char *text);
};

static const char *
file_of(const char *name)
{
    size_t i = 0;
    while (strcmp(page_files[i].name, name) != 0)
        i++;
    return page_files[i].text;
}

void
ar_html_escape(FILE *to, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] == '&')
            fputs("&amp;", to);
        else if (text[i] == '<')
            fputs("&lt;", to);
        else if (text[i] == '>')
            fputs("&gt;", to);
        else if (text[i] == '"')
            fputs("&quot;", to);
        else
            fputc((unsigned char)text[i] < ' ' && text[i] != '\n' ? ' ' : text[i], to);
}

static void
put_file(FILE *to, const char *text)
{
    fputs(text, to);
}

static void
put_text(FILE *to, const char *text)
{
    ar_html_escape(to, text, strlen(text));
}

/* JSON inside a page: what could end the script element is in strings alone, where an escape stands
 * for the same letter. */
static void
put_document(FILE *to, const char *text)
{
    for (; *text; text++) {
        const bool is_line = strncmp(text, "\u2028", 3) == 0,
                   is_part = strncmp(text, "\u2029", 3) == 0;
        if (strchr("<>&", *text))
            fprintf(to, "\\u%04x", (unsigned)*text);
        else if (is_line || is_part)
            fputs(is_line ? "\\u2028" : "\\u2029", to);
        else
            fputc(*text, to);
        text += is_line || is_part ? 2 : 0;
    }
}

/* What print prints on stdout, to be freed; NULL without memory. */
static char *
take_output(ar_page_print *print, const void *what)
{
    char *text = NULL;
    size_t length;
    FILE *const before = stdout, *const memory = open_memstream(&text, &length);
    if (!memory)
        return NULL;
    stdout = memory;
    const bool is_done = print(what);
    stdout = before;
    if (fclose(memory) == 0 && is_done)
        return text;
    free(text);
    return NULL;
}

/* Puts page.html, which has a name between two '@' wherever something is to be filled in. */
static void
fill(FILE *to, const struct filling *fillings)
{
    const char *at = file_of("page.html");
    for (size_t length; length = strcspn(at, "@"), at[length]; at = strchr(at, '@') + 1) {
        const struct filling *filling = fillings;
        fwrite(at, 1, length, to);
        at += length + 1;
        while (strncmp(at, filling->mark, strlen(filling->mark)) != 0)
            filling++;
        filling->put(to, filling->text);
    }
    fputs(at, to);
}

int
ar_page_write(const char *path, const char *script, ar_page_print *text, ar_page_print *document,
              const void *what)
{
    struct ar_output output;
    char *const printed = take_output(text, what);
    char *const json = printed ? take_output(document, what) : NULL;
    const struct filling fillings[] = {{"style@", file_of("page.css"), put_file},
                                       {"text@", printed, put_text},
                                       {"document@", json, put_document},
                                       {"shared@", file_of("page.js"), put_file},
                                       {"script@", file_of(script), put_file}};
    int error = json ? ar_output_begin(&output, path) : ENOMEM;
    if (!error) {
        fill(output.file, fillings);
        error = ar_output_end(&output);
    }
    if (error)
        fprintf(stderr, "allreduce: cannot write %s: %s\n", path, strerror(error));
    free(printed);
    free(json);
    return error ? AR_EXIT_FAILED : AR_EXIT_DONE;
}
