/* What the user asks for: read once per process, and the same on all ranks of a communicator.  No
 * MPI.
 *
 * ALLREDUCE_ALGO's clauses come first, then what the program itself chose for the communicator,
 * then the clauses of the file ALLREDUCE_RULES, then auto, which ALLREDUCE_ALGO_LIST restricts. */
#ifndef AR_CONFIG_H
#define AR_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "execute/wait.h"
#include "reduce/copy.h"
#include "select/determinism.h"
#include "select/select.h"
#include "select/settings.h"

#define AR_CONFIG_PROBLEM  1024
#define AR_CONFIG_STRANGE  256
#define AR_SCRATCH_MINIMUM 65536

/* What carries the messages of a schedule. */
enum ar_transport {
    AR_TRANSPORT_AUTO, /* shared memory where all ranks are on one node, else MPI */
    AR_TRANSPORT_MPI
};

enum ar_tune_mode { AR_TUNE_OFF, AR_TUNE_RIVALS, AR_TUNE_CROWDED, AR_TUNE_ONLINE };

/* Where clauses come from, in the order in which they are asked. */
enum ar_source {
    AR_SOURCE_ALGO,    /* ALLREDUCE_ALGO */
    AR_SOURCE_PROGRAM, /* allreduce_choose */
    AR_SOURCE_FILE,    /* ALLREDUCE_RULES */
    AR_SOURCES
};

/* Members that stand for a variable are filled by its row (config/variables.h).  Those whose values
 * are words are filled as ints, even enums. */
struct ar_config {
    int rank;                           /* that it is read by; rank 0 writes files for all */
    struct ar_rules *rules[AR_SOURCES]; /* NULL: none.  Owned */
    char *model_file;                   /* of ALLREDUCE_MODEL, which parsed; NULL: none.  Owned */
    char *model_path;                   /* its file from any folder; NULL: unknown.  Owned */
    char *tuned;   /* where those were tuned, by their file; NULL: it does not say,
                      or was read by another rank.  Owned */
    bool *allowed; /* what auto may pick, as in ar_algo_list_parse.  Owned */
    enum ar_determinism determinism;
    struct ar_levels levels; /* that levels=auto of an algorithm stands for */
    enum ar_transport transport;
    enum ar_streaming streaming;
    enum ar_wait_policy wait;
    struct ar_verify_setting verify;
    enum ar_tune_mode tune;
    int tune_overhead;    /* percent of the time in allreduce */
    char *tune_dump;      /* of ALLREDUCE_TUNE_DUMP, of this process alone; NULL: none.  Owned */
    int cuts_user_ops;    /* 1: ops of the program's own may get a part of the vector */
    bool is_watched;      /* any call may be verified or tuned */
    size_t scratch_bytes; /* bound of scratch memory per communicator */
    char *stats_file;     /* of ALLREDUCE_STATS, as it stands there; NULL: none.  Owned */
    int stats_signal;     /* of ALLREDUCE_STATS_SIGNAL; 0: none */
    struct ar_timeout_setting timeout; /* of this process alone */
    struct ar_trace_setting trace;
    int verbose;
    int strict;      /* 1: a bad setting is an error */
    unsigned traits; /* for which traits of a call its clauses ask: bits of enum ar_trait */
    bool broken;     /* something was refused: every call goes native */
    int error;       /* AR_ERR_SYNTAX if broken and strict, else AR_OK */

    /* Canonical text of all that must agree between ranks: where texts are equal, decisions are.
     * The table of variables says which are each rank's own affair.  Owned */
    char *text;

    /* If broken: one line with the variable, the place, what is wrong and what is
     * allowed: the error if strict, else a warning.  Else "". */
    char problem[AR_CONFIG_PROBLEM];

    /* Variables of this process with our prefix that are near none of ours, with commas between
     * them; "": none.  They change nothing. */
    char strange[AR_CONFIG_STRANGE];
};

/* Reads the environment and the files that it names, as this rank of the job: a file that only rank
 * 0 writes need not be writable on others.  A bad setting, or a misspelt variable, makes it broken;
 * the first one found is told.  NULL only without memory. */
struct ar_config *ar_config_from_environment(int rank);

/* Rebuilds the configuration of another rank from its text: the same text and the same decisions,
 * broken and error included; what each rank sets for itself is by default.  NULL only without
 * memory. */
struct ar_config *ar_config_from_text(const char *text);

/* The configuration of an environment where ALLREDUCE_ALGO=text and ALLREDUCE_TUNE=off are set: for
 * programs that compare algorithms.  NULL only without memory. */
struct ar_config *ar_config_from_algo(const char *text);

/* A copy of base in which these clauses, in the grammar of ALLREDUCE_ALGO, are the
 * program's; what cannot be understood is an error of it.  NULL only without memory. */
struct ar_config *ar_config_with_program(const struct ar_config *base, const char *clauses);

/* Adds the first setting in which two configurations differ, as each has it: "rank 0 has
 * ALLREDUCE_ALGO=ring, and rank 1 has the default".  Both are of ranks that are named so. */
void ar_config_tell_difference(struct ar_text *to, const struct ar_config *a, const char *name_a,
                               const struct ar_config *b, const char *name_b);

/* Takes from mine what each rank sets for itself, and other ranks do not send.  What there is no
 * memory for is left out. */
void ar_config_take_own(struct ar_config *config, const struct ar_config *mine);

/* The next variable, from number *i on, by which another library, such as the MPI library, would
 * choose its algorithm, and which changes nothing: what is in the environment, unless
 * ALLREDUCE_ALGO says what runs.  *advice gets what makes it count.  NULL: there is no more; *i
 * starts as 0. */
const char *ar_config_next_unused(const struct ar_config *config, size_t *i, const char **advice);

void ar_config_destroy(struct ar_config *config);

/* Why something was chosen: keys of statistics, comparable as pointers. */
extern const char ar_reason_named[];       /* "named": by ALLREDUCE_ALGO */
extern const char ar_reason_program[];     /* "program": chosen by the program itself */
extern const char ar_reason_rule[];        /* "rule": by ALLREDUCE_RULES */
extern const char ar_reason_auto[];        /* "auto": by the built-in rules */
extern const char ar_reason_model[];       /* "model": auto, by a model of the machine */
extern const char ar_reason_no_commute[];  /* "op does not commute": what was named, or all
                                              that auto may pick, needs a commutative op */
extern const char ar_reason_determinism[]; /* "determinism": the built-in rules, in place of what
                                              does not keep the bits */
extern const char ar_reason_whole[];       /* "user op needs the whole vector": in place of what
                                              would cut it */
extern const char ar_reason_broken[];      /* "bad configuration": see problem */

/* What runs; never AR_CHOICE_AUTO.  An algorithm that does not keep the order cannot serve an op
 * that does not commute: native then.  AR_OK or AR_ERR_MEMORY.  Thread-safe. */
int ar_config_select(const struct ar_config *config, struct ar_choice *out,
                     const struct ar_request *request, const char **reason);

/* What the clauses ask for: the first that matches; NULL, which means auto, where none
 * does.  Borrowed. */
const struct ar_choice *ar_config_clause(const struct ar_config *config,
                                         const struct ar_request *request);

/* May the algorithm hand the op parts of the vector?  Not an op of the program's own, unless
 * ALLREDUCE_USER_OPS, or the clause that matches by op=user, says that it can do with them. */
bool ar_config_may_cut(const struct ar_config *config, const struct ar_request *request);

/* May auto pick only some of the algorithms? */
bool ar_config_has_list(const struct ar_config *config);

/* The reason why every call goes native whatever its size, or NULL. */
const char *ar_config_always_native(const struct ar_config *config);

#endif
