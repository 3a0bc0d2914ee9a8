/* For tests of the model: what it predicts of an algorithm that is given as text, on elements of
 * one byte, so that bytes are elements.  The test fails where the text or the prediction does. */
#ifndef PREDICTED_H
#define PREDICTED_H

#include <stddef.h>

#include "model/predict.h"

#define STEPS ((size_t)1 << 22)

/* Ranks lie on nodes as node_of says; steps and limit as in struct ar_question. */
struct ar_prediction predict_placed(const struct ar_machine *machine, const char *text,
                                    const int *node_of, int nranks, size_t count, size_t steps,
                                    double limit);

/* Ranks fill node after node. */
struct ar_prediction predict_within(const struct ar_machine *machine, const char *text, int nranks,
                                    size_t count, size_t steps, double limit);
struct ar_prediction predict(const struct ar_machine *machine, const char *text, int nranks,
                             size_t count, size_t steps);
double time_of(const struct ar_machine *machine, const char *text, int nranks, size_t count);

/* Fails where an estimate of an algorithm, on 4 to so many ranks, is above 2.05 times what is
 * predicted: one that would win might be left out. */
void expect_likely_estimates(const struct ar_machine *machine, int most_ranks);

/* Fails where an algorithm on 2 to so many ranks is predicted to be faster than the bound. */
void expect_no_row_below_bound(const struct ar_machine *machine, int most_ranks);

#endif
