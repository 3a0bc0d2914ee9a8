/* The table of statistics: a row for each kind of call, one for each rank, and one for
 * each place from which the program calls.  All outputs are
 * made from it.  Pure; nothing here locks. */
#ifndef AR_TABLE_H
#define AR_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/arrivals.h"
#include "report/histogram.h"
#include "report/rank_rows.h"
#include "report/sites.h"
#include "select/select.h"

#define AR_NAME_TEXT   64 /* room for the name of a type or op; a longer one is cut */
#define AR_REASON_TEXT 96
#define AR_COMM_COLUMN 33 /* room for the name of a communicator in a table */

/* A kind of call.  Bytes behind the texts' ends are 0: equal keys are equal bytes. */
struct ar_row_key {
    enum ar_entry entry;
    int nranks;              /* of the communicator; 0: not looked at */
    int nodes;               /* that its ranks are on; 0: not known */
    char comm[AR_COMM_TEXT]; /* the communicator's name; "": it has none */
    unsigned bin;            /* of the message's size: see ar_size_bin */
    char type[AR_NAME_TEXT];
    char op[AR_NAME_TEXT];
    char requested[AR_CHOICE_TEXT];
    char ran[AR_CHOICE_TEXT]; /* "native", or as the grammar writes it */
    char reason[AR_REASON_TEXT];
    enum ar_place place; /* of the buffers, on the ranks whose calls these are */
};

#define AR_SIZES_MOST 16 /* message sizes that a row tells apart: the first that occur */

/* The calls of a row that have one message size. */
struct ar_size_counts {
    uint64_t calls; /* 0: this one and all later ones are free.  Copied before bytes */
    uint64_t bytes; /* of one message */
    uint64_t ns;
};

/* Numbers of a row, all uint64_t, so that a thread can copy them one by one while they change. */
struct ar_counts {
    uint64_t calls;    /* each rank's call counts one */
    uint64_t bytes;    /* of the messages: count x type size */
    uint64_t ns;       /* in the calls, without set-up */
    uint64_t wait_ns;  /* the part of ns spent polling for other ranks in vain; native: unknown */
    uint64_t setup_ns; /* deciding, making plans and engines, at first calls */
    uint64_t streamed; /* of the calls: those in which the rank wrote past its caches */
    uint64_t least_ns; /* UINT64_MAX: no call was timed */
    uint64_t most_ns;
    struct ar_histogram times;
    struct ar_size_counts sizes[AR_SIZES_MOST];
};

/* A rank and the mean time of its calls. */
struct ar_extreme {
    int rank;
    uint64_t ns;
};

/* A plain block of memory: ranks send it to each other as bytes. */
struct ar_row {
    struct ar_row_key key;
    struct ar_counts counts;
    bool shares_cores;          /* ranks of the communicator do, on some node */
    uint64_t running_ns;        /* how long a call has been under way; 0: none is */
    int ranks;                  /* whose calls these are */
    struct ar_extreme quickest; /* of these ranks: who waited for nobody */
    struct ar_extreme slowest;
};

struct ar_table {
    struct ar_row *rows;
    size_t nrows;
    size_t room;
    uint32_t *slots; /* by the hash of a key the number of its row, from 1; 0: free.  Owned */
    size_t nslots;   /* a power of two; 0: they are made when a row is added */
    uint64_t lost;   /* calls that found no memory */
    struct ar_rank_rows ranks;
    struct ar_site_rows sites;
    struct ar_arrivals_list arrivals; /* until they are counted in the ranks' rows */
};

/* A table whose bytes are all zero is empty. */
void ar_table_fini(struct ar_table *table);

void ar_counts_init(struct ar_counts *counts);
void ar_counts_add(struct ar_counts *sum, const struct ar_counts *counts);

/* Adds counts and ranks to the row of the same key.  The ranks are others than the table has so
 * far, or their number is 0.  Returns that row, which stays where it is until the next one is
 * added; NULL without memory, where the calls count as lost. */
struct ar_row *ar_table_add(struct ar_table *table, const struct ar_row *row);

/* Adds all that is in the table. */
void ar_table_merge(struct ar_table *sum, const struct ar_table *table);

/* All rows are those of one rank: sets ranks, quickest and slowest. */
void ar_table_sign(struct ar_table *table, int rank);

/* The same, and adds that rank's own row: its numbers are the rows' sums, and from has the rest. */
void ar_table_add_rank(struct ar_table *table, const struct ar_rank_row *from);

/* Takes the rows out, for the caller to free. */
struct ar_row *ar_table_take_rows(struct ar_table *table);

/* The longest time first, then the most calls. */
void ar_table_sort(struct ar_table *table);

/* 0 for 0 bytes, else 1 + the exponent of the power of two not above. */
static inline unsigned
ar_size_bin(uint64_t bytes)
{
    return bytes ? 64U - (unsigned)__builtin_clzll(bytes) : 0;
}
uint64_t ar_size_bin_first(unsigned bin);
uint64_t ar_size_bin_last(unsigned bin);

/* The entry of that size among the sizes of a row; a free one if it is new; NULL if all are
 * taken. */
static inline struct ar_size_counts *
ar_size_find(struct ar_size_counts sizes[AR_SIZES_MOST], uint64_t bytes)
{
    for (int i = 0; i < AR_SIZES_MOST; i++)
        if (sizes[i].bytes == bytes || sizes[i].calls == 0)
            return &sizes[i];
    return NULL;
}

/* The size of all messages of the row; false if they have several, or it is not known. */
bool ar_row_size(uint64_t *bytes, const struct ar_row *row);

/* That size, as in "24"; otherwise "16+", which means at least 16 bytes and less than twice as
 * many.  Returns text. */
#define AR_ROW_SIZE_TEXT (AR_SIZE_TEXT + 1)
char *ar_row_size_print(const struct ar_row *row, char text[AR_ROW_SIZE_TEXT]);

/* Did the MPI library's own allreduce run?  Its waits are not known. */
bool ar_row_is_native(const struct ar_row *row);

/* The reason, and whether the calls were in place, and whether most were streamed; returns text. */
#define AR_WHY_TEXT (AR_REASON_TEXT + 20)
char *ar_row_why(const struct ar_row *row, char text[AR_WHY_TEXT]);

/* The quantile of the times of calls, to 1/16; 0 if no call was timed. */
uint64_t ar_row_quantile(const struct ar_row *row, double fraction);

/* The typical time of a call without waiting for late ranks.  In each call one rank comes last and
 * waits for nobody, so this is the median of the shortest times, one in nranks.  0 if no call was
 * timed. */
uint64_t ar_row_own_ns(const struct ar_row *row);

/* In a name, what does not print becomes '?': it may come from anywhere, and a terminal would obey.
 */
void ar_name_clean(char *text);

/* Fits a name into a column: it is clean, and of a name longer than room - 1
 * bytes the middle becomes "...".  No character of UTF-8 is cut in two.  room > 16; returns text.
 */
char *ar_name_fit(char *text, size_t room, const char *name);

/* What the outputs say of the run. */
struct ar_run {
    const char *version;
    const char *family;  /* of the MPI library */
    const char *program; /* its name */
    const char *library; /* the MPI library's name and version, as it says */
    const char *command; /* the command line */
    const char *when;    /* date and time of the writing */
    uint64_t elapsed_ns; /* since the first allreduce */
    int nranks;          /* of the world; 0: there is none */
    int ranks;           /* whose calls are in the table */
    int rank;            /* if they are one rank's: whose; else -1 */
};

/* Three ways to write the table.  The text is for people.  The JSON is for programs: one object a
 * line, the run first, then the rows, those of sites and of ranks, and what the watchdog says.  The
 * brief one tells what ran and why, and at the end set-up if it took long.  Each line begins
 * with the library's name, and there is nothing for an empty table. */
void ar_table_write_text(FILE *to, const struct ar_table *table, const struct ar_run *run);
void ar_table_write_json(FILE *to, const struct ar_table *table, const struct ar_run *run);
void ar_table_write_brief(FILE *to, const struct ar_table *table, const char *title);

/* The part of the text that is about ranks, of AR_RANKS_TOLD at most those that were late most
 * often; nothing where the table has no ranks' rows. */
#define AR_RANKS_TOLD 64
void ar_rank_rows_write_text(FILE *to, const struct ar_rank_rows *rows);

/* The part of the text that is about sites; nothing where there are none.  lines: where each of
 * them is in the source, NULL for one that is not known; NULL: none is. */
void ar_site_rows_write_text(FILE *to, const struct ar_site_rows *rows, char *const *lines);

#endif
