#include "config.h"

#include "cli/html.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

/* gnuplot says black and gray in attributes, which any style sheet outranks. */
static const char style[] =
    ":root{color-scheme:light dark;--ink:#1b1f24;--soft:#5b6570;--paper:#fff;--line:#d5dae0;"
    "--band:#f5f7f9;--bar:#cfe0f5;--alarm:#b3261e}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e4e8ec;--soft:#9aa5b1;--paper:#14181c;"
    "--line:#353c44;--band:#1c2127;--bar:#1f4068;--alarm:#ff8a80}}\n"
    "body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);"
    "max-width:72rem;margin:2rem auto;padding:0 1rem}\n"
    "h1{font-size:1.6rem}h2{font-size:1.2rem;margin-top:2.2rem}\n"
    "p{max-width:48rem}\n"
    "pre{background:var(--band);padding:.6rem .8rem;overflow-x:auto}\n"
    ".wide{overflow-x:auto}\n"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:.2rem .7rem;text-align:left;border-bottom:1px solid var(--line);"
    "white-space:nowrap}\n"
    "th{color:var(--soft);font-weight:600}\n"
    ".r{text-align:right}.alarm{color:var(--alarm);font-weight:600}\n"
    "tr:nth-child(even)>td{background-color:var(--band)}\n"
    "figure{margin:1.2rem 0}figcaption{color:var(--soft);max-width:48rem}\n"
    "figure svg{width:100%;max-width:60rem;height:auto}\n"
    "svg [fill=black]{fill:var(--ink)}svg [color=black]{color:var(--ink)}"
    "svg [stroke=black]{stroke:var(--ink)}svg .gridline{stroke:var(--line);stroke-width:1}\n"
    "@media print{body{max-width:none}}\n";

void
ar_html_text(struct ar_html *page, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&':
            fputs("&amp;", page->file);
            break;
        case '<':
            fputs("&lt;", page->file);
            break;
        case '>':
            fputs("&gt;", page->file);
            break;
        case '"':
            fputs("&quot;", page->file);
            break;
        default:
            fputc(*text, page->file);
        }
}

int
ar_html_open(struct ar_html *page, const char *path, const char *title)
{
    *page = (struct ar_html){.file = fopen(path, "w"), .path = path};
    if (!page->file) {
        fprintf(stderr, "allreduce: cannot write %s: %s\n", path, strerror(errno));
        return AR_EXIT_FAILED;
    }
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
          page->file);
    ar_html_text(page, title);
    fprintf(page->file, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>", style);
    ar_html_text(page, title);
    fputs("</h1>\n", page->file);
    return AR_EXIT_DONE;
}

int
ar_html_close(struct ar_html *page)
{
    fputs("</body>\n</html>\n", page->file);
    const int failed = ferror(page->file);
    if (fclose(page->file) == 0 && !failed)
        return AR_EXIT_DONE;
    fprintf(stderr, "allreduce: %s was not written in full: %s\n", page->path, strerror(errno));
    return AR_EXIT_FAILED;
}

/* The text of any length that format and args make, escaped. */
static void
put(struct ar_html *page, const char *format, va_list args)
{
    char *text;
    if (vasprintf(&text, format, args) < 0) {
        fputs("(out of memory)", page->file);
        return;
    }
    ar_html_text(page, text);
    free(text);
}

void
ar_html_heading(struct ar_html *page, const char *text)
{
    fputs("<h2>", page->file);
    ar_html_text(page, text);
    fputs("</h2>\n", page->file);
}

void
ar_html_paragraph(struct ar_html *page, const char *format, ...)
{
    va_list args;
    fputs("<p>", page->file);
    va_start(args, format);
    put(page, format, args);
    va_end(args);
    fputs("</p>\n", page->file);
}

void
ar_html_code(struct ar_html *page, const char *text)
{
    fputs("<pre>", page->file);
    ar_html_text(page, text);
    fputs("</pre>\n", page->file);
}

void
ar_html_figure(struct ar_html *page, const char *svg, const char *caption)
{
    if (!*svg)
        return;
    fprintf(page->file, "<figure>\n%s\n<figcaption>", svg);
    ar_html_text(page, caption);
    fputs("</figcaption>\n</figure>\n", page->file);
}

void
ar_html_table_begin(struct ar_html *page, const struct ar_html_column *columns, size_t ncolumns)
{
    page->columns = columns;
    page->ncolumns = ncolumns;
    page->column = 0;
    fputs("<div class=\"wide\"><table>\n<thead><tr>", page->file);
    for (size_t i = 0; i < ncolumns; i++) {
        fputs(columns[i].align == AR_HTML_RIGHT ? "<th class=\"r\">" : "<th>", page->file);
        ar_html_text(page, columns[i].title);
        fputs("</th>", page->file);
    }
    fputs("</tr></thead>\n<tbody>\n", page->file);
}

void
ar_html_table_end(struct ar_html *page)
{
    fputs("</tbody>\n</table></div>\n", page->file);
}

/* Opens the cell up to its attributes. */
static void
begin_cell(struct ar_html *page, const char *class)
{
    const char *align = page->columns[page->column].align == AR_HTML_RIGHT ? "r" : "";
    fprintf(page->file, "%s<td class=\"%s%s\"", page->column == 0 ? "<tr>" : "", align, class);
}

static void
end_cell(struct ar_html *page)
{
    page->column = (page->column + 1) % page->ncolumns;
    fputs(page->column == 0 ? "</td></tr>\n" : "</td>", page->file);
}

static void
put_cell(struct ar_html *page, const char *class, const char *format, va_list args)
{
    begin_cell(page, class);
    fputc('>', page->file);
    put(page, format, args);
    end_cell(page);
}

void
ar_html_cell(struct ar_html *page, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put_cell(page, "", format, args);
    va_end(args);
}

void
ar_html_cell_alarm(struct ar_html *page, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put_cell(page, " alarm", format, args);
    va_end(args);
}

void
ar_html_cell_bar(struct ar_html *page, double share, const char *format, ...)
{
    const double percent = share > 1 ? 100 : share > 0 ? 100 * share : 0;
    va_list args;
    begin_cell(page, "");
    fprintf(page->file,
            " style=\"min-width:6rem;background-image:linear-gradient(to right,var(--bar) "
            "%.1f%%,transparent "
            "%.1f%%)\">",
            percent, percent);
    va_start(args, format);
    put(page, format, args);
    va_end(args);
    end_cell(page);
}
