/* What online tuning settled on all communicators of this process, for ALLREDUCE_TUNE_DUMP. */
#ifndef AR_TUNED_RULES_H
#define AR_TUNED_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "communicator/communicator.h"

struct ar_tuned_rule {
    unsigned bin; /* ar_size_bin */
    int nranks;
    enum ar_type_class type;
    bool commutative;
    struct ar_choice choice;
    int64_t ns; /* a call */
    char reason[AR_REASON_TEXT];
};

/* In place of an older one for the same calls.  Lost without memory. */
void ar_tuned_rules_keep(const struct ar_tuned_rule *rule);

/* Adds to the time of the calls that are tuned, and to what trials cost beyond it. */
void ar_tuned_rules_count(int64_t more_time_ns, int64_t more_spent_ns);

/* Writes them as rules; says why it cannot. */
void ar_tuned_rules_write(const char *path, int nranks);

#endif
