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
    double limit; /* ns: what takes many steps, and at a glance longer, is not simulated; 0: none */
};

/* How the answer was found. */
enum ar_how {
    AR_HOW_SIMULATED, /* all ranks */
    AR_HOW_SYMMETRY,  /* nactors ranks, which stand for all: others did the same in a sample */
    AR_HOW_FIRST,     /* either, of few segments: too few to know well how the others go on */
    AR_HOW_IN_STEP,   /* the rounds of the ranks of some nodes: they send and receive in each */
    AR_HOW_ROUNDS,    /* the same of ranks that do not: waiting for others is left out */
    AR_HOW_GLANCE     /* the same of one rank: longer than the question's limit */
};

struct ar_prediction {
    enum ar_how how;
    struct ar_moment end; /* ns, and where they went */
    int nactors;
    size_t nsegments;
    size_t simulated; /* segments; 0 or 1 where the others follow as fast as what is busiest */
    double pace;      /* ns that another segment takes, where some are not simulated */
    size_t messages;  /* simulated */
    size_t ports;     /* that a rank receives in one round, at most */
    double busiest;   /* share of the time that the busiest link was busy; not known in step */
    char link[AR_PREDICT_LINK]; /* what that link is */
};

/* AR_OK; AR_ERR_MEMORY; AR_ERR_PARAM where the machine has too few places for the nodes; errors
 * of the algorithm. */
int ar_predict(struct ar_prediction *prediction, const struct ar_question *question);

/* Time that no algorithm can beat that receives at most ports messages in a round: the longest of
 * what news, bytes and reductions take alone.  As ar_bound_time, between ranks, nodes, and what
 * hangs on switches, each taken as one. */
double ar_predict_bound(const struct ar_machine *machine, const int *node_of, int nranks,
                        size_t bytes, size_t ports);

#endif
