/* allreduce report --timeline: what ALLREDUCE_TRACE wrote, read back, and one of its calls. */
#ifndef AR_CLI_TIMELINE_H
#define AR_CLI_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/predict.h"
#include "report/rank_rows.h"
#include "report/table.h"

/* Times are microseconds of the file's clock, as in the file.  Ranks are those of the job. */

enum ar_slice_kind {
    AR_SLICE_CALL,
    AR_SLICE_SETUP,
    AR_SLICE_ROUND,
    AR_SLICE_WAIT,
    AR_SLICE_WORK,
    AR_SLICE_KINDS
};

/* Which call something belongs to: a communicator's n-th. */
struct ar_read_trace_key {
    int id[2];
    uint32_t call;
};

struct ar_slice {
    struct ar_read_trace_key key;
    enum ar_slice_kind kind;
    int rank;
    int detail; /* of a call the rank in its communicator, of a round its number, of a wait the rank
                   that was awaited; -1: not known */
    double begin, end;
};

/* A message, or a flag in shared memory. */
struct ar_read_trace_arrow {
    struct ar_read_trace_key key;
    bool is_flag;
    int from, to;
    double begin, end;
    double bytes;
};

/* A call of all ranks together. */
struct ar_read_trace_call {
    struct ar_read_trace_key key;
    char comm[AR_COMM_TEXT]; /* may be empty */
    char type[AR_NAME_TEXT], op[AR_NAME_TEXT];
    char ran[AR_CHOICE_TEXT], reason[AR_REASON_TEXT];
    int nranks; /* of the communicator */
    int nparts; /* ranks whose part is in the file */
    double bytes;
    double begin, last, end;     /* first arrival, last arrival, last return */
    size_t first_slice, nslices; /* its slices and arrows follow each other */
    size_t first_arrow, narrows;
};

struct ar_read_trace_host {
    int rank;
    char name[AR_HOST_TEXT];
};

struct ar_read_trace {
    const char *path; /* borrowed */
    char program[256], version[64], family[64], when[64];
    int ranks;
    double calls_lost;
    int world;                        /* ranks of the job; those of the file are below this */
    double clock_error;               /* NAN: not known */
    struct ar_read_trace_host *hosts; /* of the ranks that are in the file; owned, as all below */
    size_t nhosts;
    struct ar_slice *slices;
    size_t nslices;
    struct ar_read_trace_arrow *arrows;
    size_t narrows;
    struct ar_read_trace_call *calls; /* by their begin: number 1 came first */
    size_t ncalls;
};

/* Reads the file.  An enum ar_exit, having said what is wrong with it; at least one call then. */
int ar_read_trace_read(struct ar_read_trace *timeline, const char *path);
void ar_read_trace_fini(struct ar_read_trace *timeline);

/* The name of a rank's host; empty if the file does not tell it. */
const char *ar_read_trace_host(const struct ar_read_trace *timeline, int rank);

/* Sorts slices and arrows by call, and hosts by rank, and makes the calls of them.  The texts of
 * calls are those of heads, one for each slice of kind AR_SLICE_CALL in the order of slices.  False
 * without memory. */
bool ar_read_trace_sort(struct ar_read_trace *timeline, const struct ar_read_trace_call *heads);

/* --- one call --- */

/* One rank's part. */
struct ar_read_trace_row {
    int rank;
    double begin, end;
    double setup, waiting, work; /* sums */
    int awaited;                 /* whom it waited for longest; -1: nobody, or not known */
};

/* A stretch of the critical path: what the last return waited for, backwards. */
struct ar_read_trace_leg {
    size_t row;
    double begin, end;
    const struct ar_read_trace_arrow *arrow; /* that ended it; NULL for the return */
};

struct ar_read_trace_view {
    const struct ar_read_trace *timeline;
    const struct ar_read_trace_call *call;
    size_t number;                  /* of the call, from 1 */
    struct ar_read_trace_row *rows; /* by rank in the communicator; call->nparts of them; owned */
    struct ar_read_trace_leg *legs; /* the earliest first; owned */
    size_t nlegs;
    size_t first, last, returned; /* rows: first and last to arrive, last to return */
    double setup;                 /* the longest of all ranks */
    const char *machine;          /* its title */
    const char *unknown;          /* why the model has no time; NULL: it has */
    struct ar_prediction predicted;
};

#define AR_READ_TRACE_TEXT 1024

/* Who came last, how long the call then took, and what the model says.  Returns text. */
char *ar_read_trace_verdict(const struct ar_read_trace_view *view, char *text, size_t room);

/* The critical path in words.  Returns text. */
char *ar_read_trace_path(const struct ar_read_trace_view *view, char *text, size_t room);

/* What the prediction supposes, or why there is none.  Returns text. */
char *ar_read_trace_model(const struct ar_read_trace_view *view, char *text, size_t room);

/* What the reader should know of the file: clocks, calls and ranks that are not in it.  Returns
 * text, which may be empty. */
char *ar_read_trace_caution(const struct ar_read_trace_view *view, char *text, size_t room);

/* Fills numbers with those of the longest calls (from 0), at most room of them, longest first.
 * Returns how many. */
size_t ar_read_trace_longest(const struct ar_read_trace *timeline, size_t *numbers, size_t room);

#define AR_READ_TRACE_CALLS_TOLD 20

/* Prints call number (0: the longest) of the file, and writes it as a page where html is not NULL;
 * machine is a machine file, or NULL.  An enum ar_exit. */
int ar_report_timeline(const char *path, long number, const char *machine, const char *html);

/* Prints the call, of its ranks no more than rows_most. */
void ar_read_trace_print(const struct ar_read_trace_view *view, int rows_most);

/* Writes a page of the call into path.  An enum ar_exit, having said why it failed. */
int ar_read_trace_write_html(const char *path, const struct ar_read_trace_view *view);

#endif
