/* Every line that we print.  Pure: no MPI.  Thread-safe. */
#ifndef AR_REPORT_H
#define AR_REPORT_H

/* One line on stderr, "liballreduce: ..." with a newline, in one write. */
void ar_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
