/* Predictions: how long an algorithm takes on a machine.  Pure. */
#ifndef AR_PREDICT_H
#define AR_PREDICT_H

#include "model/simulate.h"
#include "select/select.h"

#define AR_PREDICT_LINK 80

/* Steps that are simulated at most, for one who reads the answer: a few seconds. */
#define AR_PREDICT_STEPS ((size_t)4 << 20)

/* Ranks lie on nodes as choice->params.node_of says. */
struct ar_question {
    const struct ar_machine *machine;
    const struct ar_choice *choice; /* of an algorithm */
    int nranks;
    size_t count;         /* elements */
    size_t element_bytes; /* >= 1 */
    size_t scratch_bytes; /* as ALLREDUCE_SCRATCH: it bounds a segment */
    size_t most_steps;    /* to simulate */
    double limit; /* ns: what takes many steps and is estimated to take longer than this is not
                     simulated; 0: no limit */
};

/* How good the answer is. */
enum ar_quality {
    AR_QUALITY_SIMULATED,   /* all ranks, or a sample that stands for all */
    AR_QUALITY_APPROXIMATE, /* of many segments too few were simulated to know well how the others
                               go on; or none, but all ranks send and receive in each round */
    AR_QUALITY_ESTIMATE     /* rounds added up as if no rank waited for another: rather too short */
};

struct ar_prediction {
    enum ar_quality quality;
    struct ar_moment end; /* ns, and where they went */
    int nsampled;         /* ranks that were simulated; 0: none */
    size_t nsegments;
    size_t simulated; /* segments; 0 or 1 where the others follow as fast as what is busiest */
    double pace;      /* ns that another segment takes, where some are not simulated */
    size_t messages;  /* simulated */
    size_t steps;     /* of schedules that were looked at, and of those simulated: what it cost */
    size_t ports;     /* messages that a rank receives in one round, at most */
    double busiest;   /* share of the time that the busiest link was busy; 0 without simulation */
    char link[AR_PREDICT_LINK]; /* what that link is */
};

/* Where ranks share memory and the machine says what that takes (ar_node_knows), the time is that
 * of ar_node_predict, with chunks for segments; lines that are taken back count as latency, readers
 * that come first and memory as waiting, all that a rank does itself as reduction.  AR_OK;
 * AR_ERR_MEMORY; AR_ERR_PARAM where the machine has too few places for the nodes; errors of the
 * algorithm. */
int ar_predict(struct ar_prediction *prediction, const struct ar_question *question);

#endif
