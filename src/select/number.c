#include "select/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_NS 0.0005

/* The digits behind the third are noise that looks like knowledge. */
static double
round_to_three(double x)
{
    char text[AR_NUMBER_TEXT];
    snprintf(text, sizeof text, "%.2e", x);
    return strtod(text, NULL);
}

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
        snprintf(text, room, "%.*f", digits, size < 999.5 ? x : round_to_three(x));
    return text;
}

struct unit {
    double size, below; /* what rounds to 1000 of a unit is 1 of the next */
    const char *name;
};

/* x in the first of the units that fits; the last one takes any number. */
static char *
print_in_units(double x, const struct unit *units, char *text, size_t room)
{
    while (isfinite(x) && fabs(x) >= units->below)
        units++;
    ar_number_print(x / units->size, text, room);
    const size_t length = strlen(text);
    if (isfinite(x))
        snprintf(text + length, room - length, " %s", units->name);
    return text;
}

char *
ar_time_print(double ns, char *text, size_t room)
{
    static const struct unit units[] = {
        {1, 999.5, "ns"}, {1e3, 999.5e3, "us"}, {1e6, 999.5e6, "ms"}, {1e9, HUGE_VAL, "s"}};
    if (fabs(ns) >= LEAST_NS || !isfinite(ns))
        return print_in_units(ns, units, text, room);
    snprintf(text, room, "0 us");
    return text;
}

char *
ar_rate_print(double gbytes, char *text, size_t room)
{
    static const struct unit units[] = {{1e-9, 999.5e-9, "B/s"},
                                        {1e-6, 999.5e-6, "kB/s"},
                                        {1e-3, 0.9995, "MB/s"},
                                        {1, HUGE_VAL, "GB/s"}};
    return print_in_units(gbytes, units, text, room);
}

char *
ar_percent_print(double part, char *text, size_t room)
{
    const double percent = 100 * part;
    if (isfinite(part))
        snprintf(text, room, "%.0f", fabs(percent) < 999.5 ? percent : round_to_three(percent));
    else
        snprintf(text, room, "-");
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
