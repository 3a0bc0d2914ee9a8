/* Numbers as people read them.  Files for programs have all digits instead.  Pure. */
#ifndef AR_NUMBER_H
#define AR_NUMBER_H

#include <stddef.h>

#define AR_NUMBER_TEXT 32 /* room for any number, and for a time with its unit */

/* Three digits that count, without an exponent where one can do without: 0.0123, 1.23, 12300; "-"
 * where x is not finite.  Returns text, cut to room. */
char *ar_number_print(double x, char *text, size_t room);

/* A time with the unit that fits: "12.3 us", "1.20 s".  Below half a picosecond, which in a
 * prediction is but rounding, it is "0 us".  Returns text, cut to room. */
char *ar_time_print(double ns, char *text, size_t room);

/* A rate, given in 10^9 bytes a second, with the unit that fits, of powers of 1000: "1.23 GB/s",
 * "24.0 kB/s"; "-" where it is not finite.  Returns text, cut to room. */
char *ar_rate_print(double gbytes, char *text, size_t room);

/* A share as a whole number of percent, rounded to three significant digits: "36" for 0.3612,
 * "3700" for 36.99; "-" if it is not finite.  Returns text, cut to room. */
char *ar_percent_print(double part, char *text, size_t room);

/* The "s" of a noun of which there are n; "" for one. */
static inline const char *
ar_plural(size_t n)
{
    return n == 1 ? "" : "s";
}

/* Bytes, of 1024 to a K, in three digits and their unit: "8", "1.5K", "400M", as sizes are written;
 * "-" where they are not finite.  Returns text, cut to room. */
char *ar_bytes_print(double bytes, char *text, size_t room);

#endif
