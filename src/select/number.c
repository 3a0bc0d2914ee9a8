#include "select/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LEAST_NS 0.0005

char *
ar_number_print(double x, char *text, size_t room)
{
    const double size = fabs(x);
    int digits = 0; /* behind the point */
    for (double limit = 99.95; size > 0 && size < limit && digits < 6; limit /= 10)
        digits++;
    if (!isfinite(x))
        snprintf(text, room, "-");
    else if (size > 0 && size < 9.995e-5)
        snprintf(text, room, "%.2e", x);
    else
        snprintf(text, room, "%.*f", digits, x);
    return text;
}

char *
ar_time_print(double ns, char *text, size_t room)
{
    static const struct {
        double ns, below; /* what rounds to 1000 of a unit is 1 of the next */
        const char *name;
    } units[] = {
        {1, 999.5, "ns"}, {1e3, 999.5e3, "us"}, {1e6, 999.5e6, "ms"}, {1e9, INFINITY, "s"}};
    size_t i = 0;
    if (!isfinite(ns) || fabs(ns) < LEAST_NS) {
        snprintf(text, room, isfinite(ns) ? "0 us" : "-");
        return text;
    }
    while (fabs(ns) >= units[i].below)
        i++;
    ar_number_print(ns / units[i].ns, text, room);
    const size_t length = strlen(text);
    snprintf(text + length, room - length, " %s", units[i].name);
    return text;
}

char *
ar_bytes_print(double bytes, char *text, size_t room)
{
    static const char units[] = " KMGTP";
    int unit = 0;
    for (; bytes >= 999.5 && units[unit + 1]; unit++)
        bytes /= 1024;
    if (isfinite(bytes))
        snprintf(text, room, "%.3g%.*s", bytes, unit > 0, &units[unit]);
    else
        snprintf(text, room, "-");
    return text;
}
