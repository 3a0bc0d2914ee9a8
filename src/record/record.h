/* Recording: what the calls on one communicator did, in rows for the statistics.  One thread at a
 * time records; another one may collect or take meanwhile, since records are only added and all
 * their numbers are read and written as atomics.  Numbers only grow: who takes them writes down how
 * large they were, and leaves them to the thread that records. */
#ifndef AR_RECORD_H
#define AR_RECORD_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>

#include "record/caller.h"
#include "report/clock.h"
#include "report/table.h"

/* What was asked for, what ran, and why. */
struct ar_call_label {
    struct ar_call_label *next;
    enum ar_entry entry;
    const char *comm; /* name of the communicator, a static text; NULL: the recorder's */
    char requested[AR_CHOICE_TEXT]; /* "" where nobody asked */
    char ran[AR_CHOICE_TEXT];
    char reason[AR_REASON_TEXT];
};

/* What tells the records of a recorder apart. */
struct ar_record_key {
    const struct ar_call_label *label;
    MPI_Datatype type; /* MPI_DATATYPE_NULL: a derived one */
    MPI_Op op;         /* MPI_OP_NULL: a user's */
    unsigned bin;
    int nranks; /* of the communicator; 0: nothing of this was looked at */
    enum ar_place place;
};

struct ar_record {
    _Atomic(struct ar_record *) next;
    struct ar_record_key key;
    char type[AR_NAME_TEXT];
    char op[AR_NAME_TEXT];
    struct ar_counts counts;
    struct ar_counts *taken;          /* of the counts; NULL: nothing.  See ar_recorder_take */
    uint64_t last_bytes;              /* of the last call's message; UINT64_MAX: no call yet */
    struct ar_size_counts *last_size; /* where calls of that size are counted; NULL: nowhere */
};

/* Of the calls from one place in the program; all uint64_t, as in ar_counts. */
struct ar_site_counts {
    uint64_t calls;
    uint64_t bytes;
    uint64_t ns;
    uint64_t wait_ns;
    struct ar_call_runs runs;
};

/* The last call, whose run the next one may continue. */
struct ar_last_call {
    MPI_Datatype type; /* as in its record's key, as the op */
    MPI_Op op;
    uint64_t bytes, ns, ended_ns;
    int site; /* its number */
    bool is_in_run;
};

struct ar_recorded_site {
    struct ar_site_counts counts;
    struct ar_site_counts taken; /* of these: see ar_recorder_take */
};

struct ar_recorder {
    struct ar_recorder *next, *previous; /* of this process: see statistics.c */
    MPI_Comm comm;                       /* whose calls these are; MPI_COMM_NULL: of several */
    char name[AR_COMM_TEXT];             /* its name; "": it has none.  See statistics.c */
    _Atomic(struct ar_record *) first;
    struct ar_call_label *labels;
    _Atomic(struct ar_record *) running; /* the call under way; NULL: none */
    uint64_t started_ticks;              /* when it began */
    uint64_t setup_ns;                   /* since the last call ended */
    uint64_t waited_ticks;               /* the same */
    uint64_t streamed;                   /* 1: a run streamed; the same */
    uint64_t lost;                       /* calls without memory for a record */
    uint64_t lost_taken;                 /* of these: see ar_recorder_take */
    uint64_t id;                         /* of comm, see gather.h; 0: its calls are not compared */
    int nranks;                          /* of comm */
    atomic_int nodes;                    /* of comm; 0: not known yet */
    atomic_int shares_cores;             /* 1: ranks of this one's node do */
    struct ar_call_times times;          /* of the calls that were timed */
    struct ar_last_call last;
    _Atomic(struct ar_recorded_site *) sites[AR_CALLERS_MOST]; /* by number; NULL: no call */
};

/* NULL without memory. */
struct ar_recorder *ar_recorder_create(void);
void ar_recorder_destroy(struct ar_recorder *recorder);

/* The label with these texts; the recorder's.  comm: a static text, or NULL where the recorder has
 * the calls of one communicator.  NULL without memory. */
const struct ar_call_label *ar_recorder_label(struct ar_recorder *recorder, enum ar_entry entry,
                                              const char *comm, const char *requested,
                                              const char *ran, const char *reason);

/* The record with this key, a new one if need be; NULL, which counts as a lost call, without
 * a label or memory. */
struct ar_record *ar_recorder_find(struct ar_recorder *recorder, const struct ar_record_key *key);

/* The same without a call of MPI, where the names of type and op (ar_record_names) are known. */
struct ar_record *ar_recorder_find_named(struct ar_recorder *recorder,
                                         const struct ar_record_key *key, const char *type_name,
                                         const char *op_name);

/* The key, but for its label, of a call that the MPI library ran, with any type and op; *bytes: of
 * its message.  Where nranks is 0 nothing is known of that, and type, op and count are ignored. */
struct ar_record_key ar_record_native_key(int nranks, MPI_Datatype type, MPI_Op op,
                                          enum ar_place place, uint64_t count, uint64_t *bytes);

/* A key's type and op from any valid ones. */
MPI_Datatype ar_record_type(MPI_Datatype type);
MPI_Op ar_record_op(MPI_Op op);

/* The names of a key's type and op. */
void ar_record_names(char type_name[AR_NAME_TEXT], char op_name[AR_NAME_TEXT], MPI_Datatype type,
                     MPI_Op op);

/* Counts the record's call that began last, from there, if that is known, which took ns; 0: it was
 * not timed. */
void ar_recorder_note_site(struct ar_recorder *recorder, const struct ar_record *record,
                           const struct ar_caller *caller, uint64_t bytes, uint64_t ns);

/* Adds what was recorded and not taken yet to the table, as one rank's; name: the communicator's
 * there.  The caller sees to it that no other thread collects or takes from any
 * recorder, or destroys this one, meanwhile. */
void ar_recorder_collect(const struct ar_recorder *recorder, const char *name,
                         struct ar_table *table);

/* Likewise adds the numbers of calls that have ended, and takes them: they are not handed out
 * again.  A record is taken the next time if there is no memory to note what was taken.  The
 * shortest and the longest time stay those of all calls. */
void ar_recorder_take(struct ar_recorder *recorder, const char *name, struct ar_table *table);

/* Adds when rank came to the calls, which are to be compared with those of other ranks.  No other
 * thread records meanwhile. */
void ar_recorder_collect_arrivals(const struct ar_recorder *recorder, int rank,
                                  struct ar_arrivals_list *list);

/* Adds to a number that only this thread writes. */
static inline void
ar_record_bump(uint64_t *number, uint64_t by)
{
    __atomic_store_n(number, *number + by, __ATOMIC_RELAXED);
}

/* Counts a call that took ns nanoseconds. */
static inline void
ar_record_note(struct ar_record *record, uint64_t bytes, uint64_t ns)
{
    struct ar_counts *const c = &record->counts;
    if (bytes != record->last_bytes) {
        record->last_bytes = bytes;
        record->last_size = ar_size_find(c->sizes, bytes);
    }
    struct ar_size_counts *const size = record->last_size;
    ar_record_bump(&c->calls, 1);
    ar_record_bump(&c->bytes, bytes);
    ar_record_bump(&c->ns, ns);
    if (!size)
        return;
    __atomic_store_n(&size->bytes, bytes, __ATOMIC_RELAXED);
    ar_record_bump(&size->ns, ns);
    /* Pairs with the acquire in fill_row: a reader that sees the calls also sees their size. */
    __atomic_store_n(&size->calls, size->calls + 1, __ATOMIC_RELEASE);
}

/* A call whose time nobody took. */
static inline void
ar_record_pass(struct ar_record *record, uint64_t bytes)
{
    ar_record_note(record, bytes, 0);
}

/* A call begins; record may be NULL where that is found out later. */
static inline void
ar_record_begin(struct ar_recorder *recorder, struct ar_record *record)
{
    __atomic_store_n(&recorder->started_ticks, ar_clock_ticks(), __ATOMIC_RELAXED);
    /* Pairs with the acquire in ar_recorder_collect. */
    atomic_store_explicit(&recorder->running, record, memory_order_release);
}

/* The call that began ends; it belongs to record, and came from there. */
static inline void
ar_record_end(struct ar_recorder *recorder, struct ar_record *record,
              const struct ar_caller *caller, uint64_t bytes)
{
    const uint64_t ns = ar_clock_ns(ar_clock_since(recorder->started_ticks));
    struct ar_counts *c = &record->counts;
    atomic_store_explicit(&recorder->running, NULL, memory_order_relaxed);
    ar_call_times_note(&recorder->times, ns);
    ar_recorder_note_site(recorder, record, caller, bytes, ns);
    ar_record_note(record, bytes, ns);
    ar_record_bump(&c->times.count[ar_histogram_bucket(ns)], 1);
    if (ns < c->least_ns)
        __atomic_store_n(&c->least_ns, ns, __ATOMIC_RELAXED);
    if (ns > c->most_ns)
        __atomic_store_n(&c->most_ns, ns, __ATOMIC_RELAXED);
    if (recorder->waited_ticks | recorder->setup_ns | recorder->streamed) {
        ar_record_bump(&c->wait_ns, ar_clock_ns(recorder->waited_ticks));
        ar_record_bump(&c->setup_ns, recorder->setup_ns);
        ar_record_bump(&c->streamed, recorder->streamed);
        recorder->waited_ticks = recorder->setup_ns = recorder->streamed = 0;
    }
}

#endif
