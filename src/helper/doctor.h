/* allreduce doctor: one list of checks (doctor.c).  Each answers a question by what it finds. */
#ifndef AR_DOCTOR_H
#define AR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "cores/cpus.h"
#include "cores/quota.h"

enum ar_severity { AR_SEVERITY_OK, AR_SEVERITY_NOTE, AR_SEVERITY_WARNING, AR_SEVERITY_WRONG };

struct ar_finding {
    enum ar_severity verdict;
    const struct ar_doctor_check *check;
    char *text;         /* owned */
    const char *advice; /* what to do about it; NULL: nothing */
};

/* When a check is made: bits. */
enum ar_occasion {
    AR_BEFORE_MPI = 1, /* by the process that speaks, before MPI is started */
    AR_ALONE = 2,      /* by one that no launcher has started */
    AR_IN_JOB = 4,     /* by the rank that speaks */
    AR_TOGETHER = 8    /* by all ranks of a job: collective over MPI_COMM_WORLD */
};

/* How the ranks of a node are bound. */
enum ar_binding {
    AR_BINDING_CROWDED, /* to fewer CPUs than they are, all of them or some */
    AR_BINDING_THREADS, /* several to hardware threads of one core, though cores are free */
    AR_BINDING_FULL,    /* the same, but there are more ranks than cores */
    AR_BINDING_NONE,    /* all to the same CPUs, enough of them */
    AR_BINDING_SOUND    /* each to its own */
};

/* What a node tells of its ranks; plain memory. */
struct ar_node_told {
    char host[64]; /* "": it is this process's own */
    enum ar_binding binding;
    char bound[512];             /* the same in words */
    int quota;                   /* CPUs to whose time a cgroup limits ranks; 0: to none */
    int quota_ranks, quota_cpus; /* those ranks, and the CPUs that they may use */
    int cpus;                    /* that its ranks may use */
    double busy;                 /* of these, by others; below 0: the system does not tell */
};

/* What the checks look at, and what they have found. */
struct ar_doctor {
    const char *root;           /* the folder that has sys/, proc/ and dev/; "" for this system */
    const char *program;        /* NULL: none is named */
    bool is_in_job, speaks;     /* one process of a job speaks */
    struct ar_config *config;   /* the settings; NULL where it does not speak.  Owned */
    char *library;              /* to be preloaded; NULL: none is found.  Owned */
    char *linked;               /* the lines of the program's dynamic linker, or NULL.  Owned */
    int rank, nranks;           /* in a job */
    struct ar_node_told *nodes; /* on rank 0; alone there is one.  Owned */
    int nnodes;
    double near_ns, far_ns; /* of a message within a node and between nodes; 0: of none */
    const struct ar_doctor_check *check; /* under way */
    struct ar_finding *findings;         /* in the order of looking.  Owned */
    size_t nfindings;
};

struct ar_doctor_check {
    const char *name;     /* one word, which checks of one thing share */
    const char *question; /* that it answers */
    unsigned when;        /* enum ar_occasion */
    void (*examine)(struct ar_doctor *doctor);
    const char *advice; /* what to do about all that it finds but what is OK */
};

/* Adds what the check under way has found; text as of printf.  Nothing where the process does not
 * speak.  A lack of memory ends the program. */
void ar_find(struct ar_doctor *doctor, enum ar_severity verdict, const char *text, ...)
    __attribute__((format(printf, 3, 4)));

/* The same, where something else is to do about it; advice NULL: nothing. */
void ar_find_and_advise(struct ar_doctor *doctor, enum ar_severity verdict, const char *advice,
                        const char *text, ...) __attribute__((format(printf, 4, 5)));

/* --- what one process finds without MPI (doctor_process.c) --- */

void ar_examine_settings(struct ar_doctor *doctor);
void ar_examine_unused(struct ar_doctor *doctor);
void ar_examine_preload(struct ar_doctor *doctor);
void ar_examine_library(struct ar_doctor *doctor);
void ar_examine_program(struct ar_doctor *doctor);
void ar_examine_runtime(struct ar_doctor *doctor);
void ar_examine_host(struct ar_doctor *doctor);
void ar_examine_calls(struct ar_doctor *doctor);
void ar_examine_xpmem(struct ar_doctor *doctor);
void ar_examine_memory(struct ar_doctor *doctor);
void ar_examine_files(struct ar_doctor *doctor);
void ar_examine_cores(struct ar_doctor *doctor);

/* --- nodes, by what they have told (doctor_node.c) --- */

/* A rank of a node; plain memory. */
struct ar_seat {
    int rank; /* in the world */
    struct ar_cpus cpus;
    struct ar_cpu_quotas quotas;
};

/* Of the n >= 1 ranks of a node: how they are bound, and of the limits of CPU time below the CPUs
 * that they may use the one whose ranks are most above it. */
void ar_node_tell_binding(struct ar_node_told *node, const char *root, const struct ar_seat *seats,
                          int n);
void ar_node_tell_quota(struct ar_node_told *node, const struct ar_seat *seats, int n);

/* What others do on these CPUs, in 0.2 s through which this process sleeps. */
void ar_node_tell_load(struct ar_node_told *node, const struct ar_cpus *cpus);

void ar_examine_binding(struct ar_doctor *doctor);
void ar_examine_quota(struct ar_doctor *doctor);
void ar_examine_load(struct ar_doctor *doctor);

#endif
