/* What other libraries call an allreduce, and how their settings say which one runs.  Pure.
 *
 *   intel    I_MPI_ADJUST_ALLREDUCE, whose grammar is part of ours
 *   openmpi  coll_tuned_allreduce_algorithm: an id or a name; or the text of a dynamic rules file,
 *            coll_tuned_dynamic_rules_filename (its classic format; that in JSON is read by
 *            translate/openmpi_json.c)
 *   mpich    MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM: a name
 *   ucc      UCC_TL_UCP_TUNE: allreduce:SIZES:[RANKS]:@ALGORITHM, with '#' between tokens
 *   nccl     NCCL_ALGO: names, all but those behind '^', for all collectives or for allreduce
 *   oneccl   CCL_ALLREDUCE: names, each with a range of sizes, as in ring:0-8192;double_tree
 */
#ifndef AR_FOREIGN_H
#define AR_FOREIGN_H

#include "select/select.h"
#include "select/words.h"

enum ar_foreign {
    AR_LIBRARY_INTEL,
    AR_LIBRARY_OPENMPI,
    AR_LIBRARY_MPICH,
    AR_LIBRARY_UCC,
    AR_LIBRARY_NCCL,
    AR_LIBRARY_ONECCL,
    AR_LIBRARIES
};

/* As a user types it: "openmpi" (NULL-terminated); as a reader knows it: "Open MPI". */
extern const char *const ar_library_names[AR_LIBRARIES + 1];
extern const char *const ar_library_titles[AR_LIBRARIES];

/* What is said where Intel's numbers are read. */
#define AR_INTEL_PRESETS                                                                           \
    "since 2021.13 Intel MPI's numbers are presets, of which there are more than algorithms; "     \
    "they "                                                                                        \
    "are read here as the algorithms that they were before"

/* What a library has under a name or an id. */
struct ar_counterpart {
    enum ar_foreign library;
    int id; /* -1: it has none */
    const char *name;
    const char *choice;      /* what it is here, as the grammar reads it; NULL: there is none */
    const char *note;        /* what differs, or why there is none; NULL: there is nothing to say */
    const char *on_one_node; /* the row that it is where all ranks share a node; NULL: the same */
};

/* All of them, those of one library in a row. */
size_t ar_counterpart_count(void);
const struct ar_counterpart *ar_counterpart_at(size_t i);

/* The counterpart of a word, by its id or its name; NULL if the library has no such. */
const struct ar_counterpart *ar_counterpart_find(enum ar_foreign library, struct ar_word word);

/* Is the counterpart this row, be it with parameters, or on one node? */
bool ar_counterpart_is(const struct ar_counterpart *c, const struct ar_algorithm *row);

/* What the library calls this choice of an algorithm; NULL if it has no such.  One that stands for
 * a row with parameters has to have the same. */
const struct ar_counterpart *ar_counterpart_of(enum ar_foreign library,
                                               const struct ar_choice *choice);

/* Adds the ids that the row has in Intel MPI, those in a row as 10-12; nothing if it has none. */
void ar_text_intel_ids(struct ar_text *t, const struct ar_algorithm *row);

/* Adds the names that the row has in libraries other than Intel MPI, which has ids alone:
 * "Open MPI recursive_doubling (3), MPICH recursive_doubling". */
void ar_text_elsewhere(struct ar_text *t, const struct ar_algorithm *row);

/* Adds the libraries where the row's name means another algorithm: "MPICH's
 * reduce_scatter_allgather is rhd here"; nothing where it means the same. */
void ar_text_namesakes(struct ar_text *t, const struct ar_algorithm *row);

/* Adds all names that the library has, with their ids: "0 ignore, 1 basic_linear". */
void ar_text_counterparts(struct ar_text *t, enum ar_foreign library);

/* Adds what the word means in other libraries, if it means anything there:
 * "; Open MPI's basic_linear is star here". */
void ar_text_suggest_elsewhere(struct ar_text *t, struct ar_word word);

/* The library whose variable that is, and whose value says which allreduce runs; AR_LIBRARIES:
 * none.
 */
enum ar_foreign ar_library_of_variable(struct ar_word name);

/* The variables that ar_library_of_variable knows, by number from 0 on; NULL behind the last. */
const char *ar_library_variable_at(size_t i);

/* Adds the variables that ar_library_of_variable knows, with their libraries. */
void ar_text_settings(struct ar_text *t);

#endif
