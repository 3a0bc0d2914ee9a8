/* allreduce explain: what was asked, and the two kinds of answer. */
#ifndef AR_EXPLAIN_H
#define AR_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>

#define AR_EXPLAIN_RANKS_MAX 4096
#define AR_EXPLAIN_DRAWN_MAX 16 /* ranks of a figure one can read */

struct ar_explain {
    const char *algorithm; /* one of these two is NULL */
    const char *rules;
    int nranks;
    int hosts; /* 0: node map unknown */
    int per_host;
    bool size_given; /* else the count is chosen to suit the figure */
    size_t bytes;    /* of the message */
    size_t element_bytes;
    double latency_us;       /* a */
    double bandwidth_gbytes; /* B, per second */
    double reduction_gbytes; /* 1/C, per second */
};

/* Both print to stdout, errors to stderr, and return an enum ar_exit. */
int ar_explain_algorithm(const struct ar_explain *request);
int ar_explain_rules(const struct ar_explain *request);

#endif
