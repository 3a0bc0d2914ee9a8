#include "config.h"

#include "cli/html.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static const char style[] =
    ":root{color-scheme:light dark;--ink:#1b1f24;--soft:#5b6570;--paper:#fff;--line:#d5dae0;"
    "--band:#f5f7f9;--bar:#cfe0f5;--alarm:#b3261e}\n"
    "@media screen and "
    "(prefers-color-scheme:dark){:root{--ink:#e4e8ec;--soft:#9aa5b1;--paper:#14181c;"
    "--line:#353c44;--band:#1c2127;--bar:#1f4068;--alarm:#ff8a80}}\n"
    "body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);"
    "max-width:72rem;margin:2rem auto;padding:0 1rem}\n"
    "h1{font-size:1.6rem;overflow-wrap:anywhere}h2{font-size:1.2rem;margin-top:2.2rem}\n"
    "p{max-width:48rem}.verdict{font-size:1.15rem;max-width:none}\n"
    "pre{background:var(--band);padding:.6rem .8rem;overflow-x:auto}\n"
    ".wide{overflow-x:auto}\n"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:.2rem .5rem;text-align:left;border-bottom:1px solid var(--line);"
    "white-space:nowrap}\n"
    "th{color:var(--soft);font-weight:600}\n"
    ".r{text-align:right}.w{white-space:normal}td.w{overflow-wrap:anywhere;min-width:6rem}\n"
    "@media screen and (max-width:40rem){td.w{min-width:11rem}}\n"
    "td small{display:block;color:var(--soft)}.alarm{color:var(--alarm);font-weight:600}\n"
    "tr:nth-child(even)>td{background-color:var(--band)}\n"
    "figure{margin:1.2rem 0;overflow-x:auto}figcaption{color:var(--soft);max-width:48rem}\n"
    "figure svg{width:100%;max-width:60rem;height:auto}\n"
    "svg text{font:13px system-ui,sans-serif;fill:var(--ink)}svg .grid{stroke:var(--line)}"
    "svg .axes{fill:none;stroke:var(--ink)}svg .line{fill:none;stroke-width:1.6}\n"
    "@page{margin:14mm}\n"
    "@media print{body{font-size:9pt;max-width:none;margin:0;padding:0}th,td{padding:.1rem .35rem}"
    ".wide,pre,figure{overflow:visible}figure svg{min-width:0!important}pre{white-space:pre-wrap}"
    "h2{break-after:avoid}tr,figure{break-inside:avoid}"
    "*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}\n";

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

/* As ar_html_escape; lines may break behind signs that join parts of a name. */
static void
escape_name(FILE *to, const char *text)
{
    while (*text) {
        const size_t part = strcspn(text, "_,(=/+"), length = part + (text[part] != '\0');
        ar_html_escape(to, text, length);
        fputs(text[length] ? "<wbr>" : "", to);
        text += length;
    }
}

/* An element that holds nothing but text. */
static void
put_element(struct ar_html *page, const char *begin, const char *text, const char *end)
{
    fputs(begin, page->file);
    ar_html_escape(page->file, text, strlen(text));
    fputs(end, page->file);
}

int
ar_html_open(struct ar_html *page, const char *path, const char *title)
{
    *page = (struct ar_html){.path = path};
    const int error = ar_output_begin(&page->output, path);
    if (error) {
        fprintf(stderr, "allreduce: cannot write %s: %s\n", path, strerror(error));
        return AR_EXIT_FAILED;
    }
    page->file = page->output.file;
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
          page->file);
    put_element(page, "<title>", title, "</title>\n");
    fprintf(page->file, "<style>\n%s</style>\n</head>\n<body>\n", style);
    put_element(page, "<h1>", title, "</h1>\n");
    return AR_EXIT_DONE;
}

int
ar_html_close(struct ar_html *page)
{
    fputs("</body>\n</html>\n", page->file);
    const int error = ar_output_end(&page->output);
    if (!error)
        return AR_EXIT_DONE;
    fprintf(stderr, "allreduce: cannot write %s: %s\n", page->path, strerror(error));
    return AR_EXIT_FAILED;
}

void
ar_html_drop(struct ar_html *page)
{
    ar_output_drop(&page->output);
}

/* The text that format and args make, escaped, between begin and end. */
static void
put(struct ar_html *page, const char *begin, const char *end, const char *format, va_list args)
{
    char *text;
    const bool made = vasprintf(&text, format, args) >= 0;
    put_element(page, begin, made ? text : "(out of memory)", end);
    if (made)
        free(text);
}

void
ar_html_heading(struct ar_html *page, const char *text)
{
    put_element(page, "<h2>", text, "</h2>\n");
}

void
ar_html_paragraph(struct ar_html *page, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put(page, "<p>", "</p>\n", format, args);
    va_end(args);
}

void
ar_html_verdict(struct ar_html *page, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put(page, "<p class=\"verdict\">", "</p>\n", format, args);
    va_end(args);
}

void
ar_html_code(struct ar_html *page, const char *text)
{
    put_element(page, "<pre>", text, "</pre>\n");
}

/* Of the cells of a column with this title. */
static const char *
class_of(const char *title)
{
    return *title == '>' ? "r" : *title == '~' ? "w" : "";
}

void
ar_html_table_begin(struct ar_html *page, const char *titles)
{
    page->titles = page->title = titles;
    fputs("<div class=\"wide\"><table>\n<thead><tr>", page->file);
    for (const char *at = titles; *at;) {
        const size_t length = strcspn(at, "|"), mark = *at == '>' || *at == '~';
        const char *const class = class_of(at);
        fputs("<th", page->file);
        if (*class)
            fprintf(page->file, " class=\"%s\"", class);
        fputs(">", page->file);
        ar_html_escape(page->file, at + mark, length - mark);
        fputs("</th>", page->file);
        at += length + (at[length] == '|');
    }
    fputs("</tr></thead>\n<tbody>\n", page->file);
}

void
ar_html_table_end(struct ar_html *page)
{
    fputs("</tbody>\n</table></div>\n", page->file);
}

/* class and style are what the cell has beside its column's; both may be empty. */
static void
begin_cell(struct ar_html *page, const char *class, const char *style_of_cell)
{
    fprintf(page->file, "%s<td class=\"%s%s\"%s>", page->title == page->titles ? "<tr>" : "",
            class_of(page->title), class, style_of_cell);
}

static void
end_cell(struct ar_html *page)
{
    const char *const end = page->title + strcspn(page->title, "|");
    fputs(*end ? "</td>" : "</td></tr>\n", page->file);
    page->title = *end ? end + 1 : page->titles;
}

static void
put_cell(struct ar_html *page, const char *class, const char *style_of_cell, const char *format,
         va_list args)
{
    begin_cell(page, class, style_of_cell);
    put(page, "", "", format, args);
    end_cell(page);
}

void
ar_html_cell(struct ar_html *page, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put_cell(page, "", "", format, args);
    va_end(args);
}

void
ar_html_cell_noted(struct ar_html *page, const char *text, const char *note)
{
    begin_cell(page, "", "");
    escape_name(page->file, text);
    if (*note)
        put_element(page, "<small>", note, "</small>");
    end_cell(page);
}

void
ar_html_cell_alarm(struct ar_html *page, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put_cell(page, " alarm", "", format, args);
    va_end(args);
}

void
ar_html_cell_bar(struct ar_html *page, double share, const char *format, ...)
{
    const double percent = share > 1 ? 100 : share > 0 ? 100 * share : 0;
    char bar[160];
    va_list args;
    snprintf(bar, sizeof bar,
             " style=\"min-width:4rem;background-image:linear-gradient(to right,var(--bar) "
             "%.1f%%,transparent %.1f%%)\"",
             percent, percent);
    va_start(args, format);
    put_cell(page, "", bar, format, args);
    va_end(args);
}
