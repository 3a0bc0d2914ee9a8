/* allreduce doctor: between its files. */
#ifndef AR_DOCTOR_H
#define AR_DOCTOR_H

#include <stdio.h>

enum ar_verdict { AR_VERDICT_OK, AR_VERDICT_NOTE, AR_VERDICT_WARNING, AR_VERDICT_WRONG };

struct ar_finding {
    enum ar_verdict verdict;
    const char *check;  /* one word: what was looked at */
    char *text;         /* owned */
    const char *advice; /* what to do about it; NULL: nothing */
};

/* What was found, in the order of looking. */
struct ar_findings {
    struct ar_finding *finding; /* owned */
    size_t n;
};

/* Adds a finding; text as of printf.  A lack of memory ends the program. */
void ar_find(struct ar_findings *findings, enum ar_verdict verdict, const char *check,
             const char *advice, const char *text, ...) __attribute__((format(printf, 5, 6)));

const char *ar_verdict_name(enum ar_verdict verdict);

/* That of the worst finding; AR_VERDICT_OK where there is none. */
enum ar_verdict ar_verdict_worst(const struct ar_findings *findings);

/* All on stdout, as one object; -1 where that fails (doctor_json.c). */
int ar_findings_print_json(const struct ar_findings *findings);

/* What one process finds without MPI (doctor_process.c): settings, library, limits, cores, memory,
 * and, unless program is NULL, whether it can be run under the library. */
void ar_doctor_examine_process(struct ar_findings *findings, const char *program);

/* Threads that run or wait for a core, of the whole machine: the least number within 50 ms; 0 where
 * the system does not tell. */
int ar_doctor_threads_running(void);

/* What the ranks of a job find together (doctor_job.c): launcher, binding, nodes, messages.
 * Collective over MPI_COMM_WORLD; rank 0 gets the findings. */
void ar_doctor_examine_job(struct ar_findings *findings);

#endif
