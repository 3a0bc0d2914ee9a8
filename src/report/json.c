#include "report/json.h"

#include <stdarg.h>

/* How many bytes beyond ASCII begin the text that are one character of UTF-8; 0: none. */
static int
utf8_length(const char *text)
{
    const unsigned char *const c = (const unsigned char *)text;
    const int length = c[0] >= 0xc2 && c[0] < 0xe0   ? 2
                       : c[0] >= 0xe0 && c[0] < 0xf0 ? 3
                       : c[0] >= 0xf0 && c[0] < 0xf5 ? 4
                                                     : 0;
    for (int i = 1; i < length; i++)
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    /* Longer than need be, halves of a pair, and above U+10FFFF. */
    const bool is_none = (c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] >= 0xa0) ||
                         (c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] >= 0x90);
    return is_none ? 0 : length;
}

void
ar_json_string(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        const int length = utf8_length(text);
        if (length > 0) {
            fwrite(text, 1, (size_t)length, to);
            text += length - 1;
        } else if (c == '"' || c == '\\')
            fprintf(to, "\\%c", c);
        else if (c < 0x20 || c >= 0x7f)
            fprintf(to, "\\u%04x", c);
        else
            fputc(c, to);
    }
    fputc('"', to);
}

static void
begin_value(struct ar_json *json, const char *name)
{
    if (json->is_next)
        fputs(",", json->to);
    if (name)
        fprintf(json->to, "\"%s\":", name);
    json->is_next = true;
}

void
ar_json_begin(struct ar_json *json, const char *name, char bracket)
{
    begin_value(json, name);
    fputc(bracket, json->to);
    json->is_next = false;
}

void
ar_json_end(struct ar_json *json, char bracket)
{
    fputc(bracket, json->to);
    json->is_next = true;
}

void
ar_json_put_text(struct ar_json *json, const char *name, const char *text)
{
    begin_value(json, name);
    ar_json_string(json->to, text);
}

void
ar_json_put(struct ar_json *json, const char *name, const char *format, ...)
{
    va_list args;
    begin_value(json, name);
    va_start(args, format);
    vfprintf(json->to, format, args);
    va_end(args);
}
