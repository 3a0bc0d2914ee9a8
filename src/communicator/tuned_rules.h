/* Tuned rules: where they were tuned, a line in the rules file, "#! tuned: name=value; ..."; and
 * what online tuning settled on all communicators of this process, for ALLREDUCE_TUNE_DUMP. */
#ifndef AR_TUNED_RULES_H
#define AR_TUNED_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "communicator/communicator.h"

#define AR_PROVENANCE_TEXT 512
#define AR_DIFFERENCE_TEXT (2 * AR_PROVENANCE_TEXT)

/* The first line of what the MPI library says of itself, and the processor's name on this rank, or
 * "unknown".  Cut to room. */
void ar_provenance_mpi(char *name, size_t room);
void ar_provenance_cpu(char *name, size_t room);

/* "mpi=...; cpu=...; ranks=...": what of this job makes rules good or bad.  Cut to room.  Needs an
 * initialised MPI. */
void ar_provenance_of_job(char *text, size_t room, int nranks);

/* Tells in what the job differs from tuned, a text of the same kind that may have more in it; false
 * where it does not. */
bool ar_provenance_differs(char text[AR_DIFFERENCE_TEXT], const char *tuned, int nranks);

/* Says so on stderr, in a line; nothing where it does not. */
void ar_provenance_check(const char *tuned, int nranks);

struct ar_tuned_rule {
    unsigned bin; /* ar_size_bin */
    int nranks;
    enum ar_type_class type;
    bool commutative;
    struct ar_choice choice;
    int64_t ns; /* per call */
    char reason[AR_REASON_TEXT];
};

/* In place of an older one for the same calls.  Lost without memory. */
void ar_tuned_rules_keep(const struct ar_tuned_rule *rule);

/* Adds to the time of the calls that are tuned, and to what trials cost beyond it. */
void ar_tuned_rules_count(int64_t more_time_ns, int64_t more_spent_ns);

/* Writes them as rules; says why it cannot. */
void ar_tuned_rules_write(const char *path, int nranks);

#endif
