/* allreduce explain: what was asked, and the three kinds of answer. */
#ifndef AR_EXPLAIN_H
#define AR_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "model/placement.h"
#include "report/columns.h"
#include "schedule/cost.h"
#include "schedule/schedule.h"
#include "select/number.h"
#include "select/select.h"

#define AR_EXPLAIN_RANKS_MAX    4096                   /* that are proved */
#define AR_EXPLAIN_MODEL_MAX    AR_PLACEMENT_RANKS_MAX /* whose time is predicted */
#define AR_EXPLAIN_COMPARED_MAX 4                      /* rules beside each other on one screen */
#define AR_EXPLAIN_DRAWN_MAX    16                     /* ranks of a figure one can read */

struct ar_explain {
    const struct ar_written_row *written; /* the file that algorithm names; NULL: none */
    const char *algorithm;                /* one of these two is NULL */
    const char *rules;                    /* a text, or the name of a file */
    struct ar_traits call;    /* of the call that the rules are asked about; asks: those given */
    const char *machine_file; /* NULL: none */
    bool compare;             /* all algorithms */
    enum ar_columns_format format;                 /* of the comparison */
    const char *compared[AR_EXPLAIN_COMPARED_MAX]; /* rules to set beside the best */
    int ncompared;
    int nranks;
    struct ar_placement placement; /* of no node_of: unknown */
    const char *nodes;             /* the text that says it; NULL: none */
    bool size_given;               /* else the count is chosen to suit the figure */
    size_t bytes;                  /* of the message */
    size_t element_bytes;
    double latency_us;       /* a */
    double bandwidth_gbytes; /* B, per second */
    double reduction_gbytes; /* 1/C, per second */
    const char *rate;        /* the option that said one of these; NULL: none did */
    const char *svg;         /* file for a picture of at most AR_HOLDINGS_RANKS_MAX ranks,
                                "-" for stdout; NULL: none */
    const char *html;        /* file for a page of the same; NULL: none */
    bool schedule;           /* print it in the form of a file */
};

/* These print to stdout, errors to stderr, and return an enum ar_exit. */
int ar_explain_algorithm(const struct ar_explain *request);
int ar_explain_rules(const struct ar_explain *request);
int ar_explain_machine(const struct ar_explain *request);

/* Prints the groups of ranks by params->grouping, which was made by params->levels and has the
 * levels found; nothing where these are auto or flat. */
void ar_explain_print_levels(const struct ar_params *params, const struct ar_levels *found);

/* Reads a text of rules, or the file or installed file of that name.  An enum ar_exit, having said
 * why it failed. */
int ar_explain_read_rules(struct ar_rules **rules, const char *text);

/* The call that rules are asked about, of no bytes. */
struct ar_request ar_explain_call(const struct ar_explain *request);

/* What auto goes by across nodes of the request's machine, for ops that do not commute where
 * in_order: a text of rules for the caller to free.  An enum ar_exit, having said why it failed. */
int ar_explain_advise(char **rules, const struct ar_explain *request, bool in_order);

/* Puts the row of the file that the choice names in its place.  An enum ar_exit, having said why it
 * failed. */
int ar_explain_read_file(struct ar_choice *choice, const struct ar_explain *request);

/* Prints the choice, in the form for messages of about count elements, as a file; in JSON with the
 * depth of its expressions.  An enum ar_exit, having said why it failed. */
int ar_explain_print_schedule(const struct ar_explain *request, const struct ar_choice *choice,
                              size_t count, uint32_t depth);

/* Says on stderr what is wrong with a text of rules, and where. */
void ar_explain_problem(const char *text, const struct ar_problem *problem);

/* The one algorithm that the request names for ranks on so many nodes (0: unknown, taken as one).
 * An enum ar_exit, having said why there is none. */
int ar_explain_read_choice(struct ar_choice *choice, const struct ar_explain *request, int nodes);

/* --- the table of counts (explain_counts.c) --- */

/* A line of the table of counts; an empty cell is not known, or means nothing. */
struct ar_explain_count {
    const char *what;
    char ours[AR_NUMBER_TEXT], card[AR_NUMBER_TEXT], all[AR_NUMBER_TEXT], least[AR_NUMBER_TEXT],
        ratio[AR_NUMBER_TEXT];
};

struct ar_explain_counts {
    const char *card_title;
    struct ar_explain_count lines[12];
    size_t n;
};

/* Appends what is counted of the rank with the largest value; what the card says (NULL: nothing);
 * and the bound (0: none is known). */
struct ar_explain_count *ar_explain_add_count(struct ar_explain_counts *counts, const char *what,
                                              double measured, const double *said, double bound);

/* The same with the sum over all ranks; and of microseconds. */
void ar_explain_add_tally(struct ar_explain_counts *counts, const char *what,
                          const struct ar_tally *tally, const double *said, double bound);
void ar_explain_add_time(struct ar_explain_counts *counts, const char *what, double us,
                         double said_us, double bound_us);

void ar_explain_print_counts(const struct ar_explain_counts *counts);

/* --- the picture (svg.c), and the page (explain_page.c) --- */

#define AR_SVG_NOTES     20
#define AR_SVG_NOTE_TEXT 512

struct ar_svg_text {
    const char *title;
    char notes[AR_SVG_NOTES][AR_SVG_NOTE_TEXT]; /* lines below the title */
    int n;
    int formulas, nformulas; /* the first note that is a formula for the time, and their number */
    struct ar_explain_counts counts; /* the notes contain them, too */
    const int *node_of; /* of each rank, shown below its number; borrowed; NULL: unknown */
};

/* Draws a figure of what ranks send: ranks across, rounds down, an arrow for every message with its
 * blocks.  It takes schedules as ar_figure_init takes them, and makes one SVG document in UTF-8.
 * Below each round stands what every rank holds of every block, darker the more ranks are in it.
 * AR_ERR_PARAM above AR_HOLDINGS_RANKS_MAX ranks, AR_ERR_MEMORY.  Errors of the file stay in the
 * file (ferror). */
int ar_svg_draw(FILE *file, const struct ar_schedule *schedules, int nranks,
                const struct ar_svg_text *text);

/* Writes a page that shows the same figure round by round, as its reader likes, into path.  It
 * takes what ar_svg_draw takes; the first two notes stand above the figure, the third, the counts
 * and the formulas below.  An enum ar_exit, having said why it failed. */
int ar_explain_page(const char *path, const struct ar_schedule *schedules, int nranks,
                    const struct ar_svg_text *text);

#endif
