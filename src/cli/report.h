/* allreduce report: between its files. */
#ifndef AR_CLI_REPORT_H
#define AR_CLI_REPORT_H

#include <glob.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/source_lines.h"
#include "model/predict.h"
#include "report/columns.h"
#include "report/table.h"

#define AR_RUNS_MOST 32

/* The statistics of a run, or of several that were added up, read back. */
struct ar_read_run {
    const char *path;         /* borrowed */
    const char *command_name; /* the subcommand that reads, for messages.  Borrowed */
    char program[256];
    char version[64];
    char family[64];
    char when[64];
    char library[256]; /* the MPI library's version; "" in files of older versions, as the next */
    char command[1024];
    int world;           /* ranks of the job; 0: not told, or there is no world */
    int ranks;           /* whose calls these are */
    int files;           /* 1, or the files of single ranks that were added up */
    uint64_t elapsed_ns; /* of the longest */
    int runs;
    double seconds[AR_RUNS_MOST]; /* in allreduces, of each run on an average rank */
    struct ar_table table;
    struct ar_source_lines lines; /* of its sites; none so far where they were not looked for */
};

/* The files of single ranks, FILE.rankN with the digits of N alone, which are there where one for
 * all ranks is not; 0, and they are the caller's to globfree, or what glob returns. */
int ar_rank_files_find(glob_t *found, const char *path);

/* Reads FILE, or where there is none all FILE.rankN, for a subcommand.  An enum ar_exit, having
 * said why it failed: not to be read, line N is not what ALLREDUCE_STATS writes, or the files are
 * of several runs. */
int ar_run_read(struct ar_read_run *run, const char *command, const char *path);

/* Adds another run, of which there are AR_RUNS_MOST at most. */
int ar_run_add(struct ar_read_run *run, const char *path);

void ar_run_fini(struct ar_read_run *run);

/* The text of that name in an object of JSON, clean; empty where there is none. */
struct json_t;
void ar_json_text(char *text, size_t room, const struct json_t *object, const char *name);

/* What made the calls of a row last. */
enum ar_cause {
    AR_CAUSE_UNTIMED,
    AR_CAUSE_LATE,      /* waiting for late ranks */
    AR_CAUSE_ALGORITHM, /* moving and reducing */
    AR_CAUSE_SETUP
};

/* What follows from a row.  Times in ns, of all ranks together but for those of
 * a call. */
struct ar_fact {
    const struct ar_row *row;
    enum ar_cause cause;
    double share;                /* of all time in allreduces, set-up included */
    double own_ns;               /* of a call to which no rank comes late */
    double late_ns;              /* waiting for late ranks: what is beyond own_ns, but no more
                                    than was waited */
    double bytes;                /* of a message */
    double bus;                  /* bytes per ns that each rank must send: 2(p-1)/p n / own_ns */
    double bound_ns;             /* of a call; see ar_facts_make */
    const struct ar_row *better; /* the same calls (report/timed.h) by another algorithm in this
                                    run, that took less; NULL: none */
    double saves_ns;             /* what it would save */
};

struct ar_facts {
    const struct ar_read_run *run;
    struct ar_fact *facts; /* the largest share first */
    size_t n;
    double total_ns; /* in allreduces, set-up included */
    double late_ns;
    double setup_ns;
    double own_ns;
};

/* The bound of a row on p ranks is the time of 2(p-1)/p n bytes at bytes_per_ns; or, if that is 0,
 * at the best rate that any row on p ranks reached.  It is no less than the shortest own_ns of such
 * a row with messages of at most 1 KiB.  False without memory. */
bool ar_facts_make(struct ar_facts *facts, const struct ar_read_run *run, double bytes_per_ns);
void ar_facts_fini(struct ar_facts *facts);

/* Seconds per rank, on average: ns is of all ranks together. */
double ar_facts_seconds(const struct ar_facts *facts, double ns);

/* Why no rule chooses what runs such calls, a static text; NULL: rules do. */
const char *ar_row_why_fixed(const struct ar_row *row);

/* "MPI_DOUBLE MPI_SUM of 8K on 4 ranks of MPI_COMM_WORLD", or "from 8K" if not all messages have
 * that size; returns text. */
char *ar_row_describe(const struct ar_row *row, char *text, size_t room);

/* What a file of a run says ran, as a choice.  False for what no rules can name, as an exact sum,
 * or a later version's.
 */
bool ar_ran_read(struct ar_choice *choice, const char *ran);

/* Why the row's calls lasted, in words; returns text. */
char *ar_fact_explain(const struct ar_fact *fact, char *text, size_t room);

/* The same calls in two runs: of one communicator size and name, type, op and size; or those of a
 * row of several sizes. */
struct ar_pair {
    struct ar_row rows[2]; /* without calls where a run has none; ran is that of
                              most time */
    bool is_mixed[2];      /* several algorithms ran */
};

/* The size of the pair's messages, as printed by ar_row_size_print; returns text. */
char *ar_pair_size_print(const struct ar_pair *pair, char text[AR_ROW_SIZE_TEXT]);

/* The longest time together first.  *n pairs, to be freed; NULL without memory.
 */
struct ar_pair *ar_pairs_make(const struct ar_read_run runs[2], size_t *n);

/* The own time of the first beside that of the second; 0: they cannot be compared, as one is not
 * known, or their nodes or their several sizes are unlike. */
double ar_pair_ratio(const struct ar_pair *pair);

/* Messages of up to so many bytes show how fast a call can be at all. */
#define AR_BRIEF_BYTES 1024

#define AR_FACTS_TEXT 768

/* How much of the run went into allreduces, and what the most of that is: sentences; returns
 * text. */
char *ar_facts_verdict(const struct ar_facts *facts, char *text, size_t room);

/* The verdict's times; returns text. */
char *ar_facts_times(const struct ar_facts *facts, char *text, size_t room);

/* What the second of two runs spends beside the first, in words.  Of several runs of each it tells
 * the least and the greatest ratio between single ones.  Returns text. */
char *ar_pair_verdict(const struct ar_facts facts[2], char *text, size_t room);

/* Takes a sentence, which has no full stop. */
typedef void ar_tell_fn(void *to, const char *text);

/* Advice about what costs something.  The first tells what the program may do: which rank is late,
 * and where one call could take the place of many; it returns of what it told, as bits.  The second
 * tells that and, for calls that cost something, what else was faster in this run or how to find
 * out. */
enum { AR_ADVICE_LATE = 1, AR_ADVICE_MERGE = 2 };
#define AR_ADVICES_MOST 6 /* so many sentences at most */
unsigned ar_facts_advise_program(const struct ar_facts *facts, ar_tell_fn *tell, void *to);
void ar_facts_advise(const struct ar_facts *facts, ar_tell_fn *tell, void *to);

void ar_report_print(const struct ar_facts *facts);

/* The same calls on nranks ranks (0: as many) of that machine: how long they would take, by what
 * ran and by auto, and what auto goes by there.  An enum ar_exit. */
int ar_report_print_machine(const struct ar_facts *facts, const struct ar_machine *machine,
                            int nranks);

/* What auto would save by the model of that machine, in ns of all ranks together; NAN: not known,
 * and why is said. */
double ar_report_gain(const struct ar_facts *facts, const struct ar_machine *machine);

bool ar_report_is_folder(const char *path);

/* Ranks the jobs whose files of statistics are named, or are in the folders that are, by what could
 * be won.  machine: whose model says that; NULL: none.  top: rows; 0: all.  An enum ar_exit, having
 * said what could not be read: AR_EXIT_FAILED if there is any such thing. */
int ar_report_jobs(const char *const *paths, size_t n, const struct ar_machine *machine,
                   enum ar_columns_format format, size_t top);

/* What the model says of a call of so many bytes by this choice, all ranks on their nodes of the
 * machine.  *is_known is false, and there is no prediction, for what is the MPI library's own, or
 * would share memory between nodes.  AR_OK, or an error of ar_predict. */
int ar_ran_predict(struct ar_prediction *prediction, bool *is_known,
                   const struct ar_machine *machine, const int *node_of, int nranks,
                   struct ar_choice choice, double bytes);

/* What the watchdog sees in a table with the rows of all runs: two may be on P
 * ranks and on P+1. */
void ar_report_print_alarms(const struct ar_table *table);

void ar_report_print_pair(const struct ar_facts facts[2], const struct ar_pair *pairs, size_t n);

/* Writes a page into path.  n is 1 or 2; pairs only for 2; all as for the alarms.  An enum ar_exit,
 * having said why it failed. */
int ar_report_write_html(const char *path, const struct ar_facts *facts, size_t n,
                         const struct ar_pair *pairs, size_t npairs, const struct ar_table *all);

/* The same as JSON on stdout, which is the document of the page.  An enum ar_exit. */
int ar_report_print_json(const struct ar_facts *facts, size_t n, const struct ar_pair *pairs,
                         size_t npairs, const struct ar_table *all);

/* The calls, or the pairs of two runs, as CSV on stdout. */
void ar_report_print_csv(const struct ar_facts *facts, const struct ar_pair *pairs, size_t npairs);

#endif
