/* The card of an algorithm: what it costs, in formulas that are printed and evaluated.  Pure.
 *
 * A formula reads as in a paper: 2(p-1)a + 2n(p-1)/p /B.  Letters are quantities, and what stands
 * side by side is multiplied.  It has + - / ^, ceil x, floor x, log2 x, log_k x, max(x, y),
 * min(x, y); [x < y], [x <= y] and [x = y], which are 1 where that holds and 0 elsewhere;
 * [halving], which is 1 where a parameter has the value of that name; sum(x) and prod(x) over the
 * sides d of a grid.  sent, reduced and time are the row's own lines.  row is the same line of the
 * row that runs between nodes: for N ranks, n/K, and B/K, since K ranks share a node's bandwidth.
 *
 * A line that begins with "at most" is a bound that some runs reach.  One that begins with "about"
 * is an estimate.  Every other line is exact where all blocks are equally long.
 *
 *     p ranks, n the vector     a latency, B bandwidth, C time to combine
 *     N nodes, L ranks of the largest, K lanes
 *     r root, k radix, e halvings, W bytes of a short vector of shm
 *     X, Y sides of a grid      s, t of the parts into which each of knomial's rounds cuts a range:
 *                               the sum of one less than their number, and their largest number
 *     m segments                w of them in flight
 */
#ifndef AR_CARD_H
#define AR_CARD_H

#include "algorithms/registry.h"

/* What is known of a machine, in any unit of time. */
struct ar_rates {
    double a; /* latency of a message */
    double B; /* bytes in a unit of time; infinite where they take none */
    double C; /* time to combine a byte */
};

/* The value of a line for nranks ranks and n elements, or of the time for n bytes, on the rank
 * where it is largest.  rates may be NULL except for the time.  0 for one rank and for an empty
 * vector, since nothing is sent then. */
double ar_card_value(const struct ar_algorithm *row, enum ar_card_line line,
                     const struct ar_params *params, int nranks, double n,
                     const struct ar_rates *rates);

/* The time of m segments of n bytes each, of which w are in flight.  Pipelined it is an estimate
 * for any row.  One after another it is as exact as the row's time. */
extern const char ar_card_pipelined[];
double ar_card_pipelined_value(const struct ar_algorithm *row, const struct ar_params *params,
                               int nranks, double n, double m, double w,
                               const struct ar_rates *rates);

/* The same as text: "m time" or the row's own, where window is 1.  Returns text, cut to room. */
char *ar_card_segments_print(char *text, size_t room, const struct ar_algorithm *row, int window);

/* The scratch of w segments in flight, by the scratch of one. */
extern const char ar_card_segments_scratch[];

#endif
