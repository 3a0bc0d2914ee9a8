/* allreduce doctor: between its files.  root is, here and there, the folder that has sys/, proc/
 * and dev/; "" for this system. */
#ifndef AR_DOCTOR_H
#define AR_DOCTOR_H

#include <stdio.h>

#include "cores/cpus.h"
#include "cores/quota.h"

enum ar_severity { AR_SEVERITY_OK, AR_SEVERITY_NOTE, AR_SEVERITY_WARNING, AR_SEVERITY_WRONG };

struct ar_finding {
    enum ar_severity verdict;
    const char *check;  /* one word: what was looked at */
    char *text;         /* owned */
    const char *advice; /* what to do about it; NULL: nothing */
};

/* What was found, in the order of looking. */
struct ar_findings {
    struct ar_finding *finding; /* owned */
    size_t n;
};

/* Adds a finding; text as of printf.  A lack of memory ends the program. */
void ar_find(struct ar_findings *findings, enum ar_severity verdict, const char *check,
             const char *advice, const char *text, ...) __attribute__((format(printf, 5, 6)));

const char *ar_severity_name(enum ar_severity verdict);

/* That of the worst finding; AR_SEVERITY_OK where there is none. */
enum ar_severity ar_severity_worst(const struct ar_findings *findings);

/* All on stdout, as one object; -1 where that fails (doctor_json.c). */
int ar_findings_print_json(const struct ar_findings *findings);

/* What one process finds without MPI (doctor_process.c): settings, library, limits, memory, the
 * program (NULL: none is named) and what it loads; and, of a process that no launcher has started,
 * its cores, the load and the network. */
void ar_doctor_examine_process(struct ar_findings *findings, const char *program);

/* What the ranks of a job find together (doctor_job.c): launcher, binding, load, nodes, network,
 * messages, and whether rules and a machine file fit.  Collective over MPI_COMM_WORLD; rank 0 gets
 * the findings. */
void ar_doctor_examine_job(struct ar_findings *findings);

/* --- cores (doctor_cores.c) --- */

/* A rank of a node; plain memory. */
struct ar_seat {
    int rank; /* in the world */
    struct ar_cpus cpus;
    struct ar_cpu_quotas quotas;
};

/* How the ranks of a node are bound. */
enum ar_binding {
    AR_BINDING_CROWDED, /* to fewer CPUs than they are, all of them or some */
    AR_BINDING_THREADS, /* several to hardware threads of one core, though cores are free */
    AR_BINDING_FULL,    /* the same, but there are more ranks than cores */
    AR_BINDING_NONE,    /* all to the same CPUs, enough of them */
    AR_BINDING_SOUND    /* each to its own */
};

/* What is said of them; plain memory. */
struct ar_binding_told {
    enum ar_binding binding;
    char text[512];
};

/* Looks at the n >= 1 ranks of the node of this name. */
void ar_doctor_judge_binding(struct ar_binding_told *told, const char *root, const char *host,
                             const struct ar_seat *seats, int n);

void ar_doctor_tell_binding(struct ar_findings *findings, const struct ar_binding_told *told);

/* A limit of CPU time below the CPUs that its ranks may use; plain memory. */
struct ar_quota_told {
    int ranks, cpus, quota; /* quota: 0: there is none */
};

/* Of the limits on n >= 1 ranks of a node, the one whose ranks are most above its quota. */
struct ar_quota_told ar_doctor_judge_quota(const struct ar_seat *seats, int n);

/* host: NULL is this process's own. */
void ar_doctor_tell_quota(struct ar_findings *findings, const char *host,
                          const struct ar_quota_told *told);

/* How many of these CPUs others keep busy, in 0.2 s through which this process sleeps; below 0: the
 * system does not tell. */
double ar_doctor_busy_cpus(const struct ar_cpus *cpus);

/* busy as above; host: NULL is this process's own. */
void ar_doctor_tell_load(struct ar_findings *findings, const char *host, double busy, int cpus);

/* --- system calls (doctor_calls.c) --- */

/* Which calls that ranks need are refused here, as by a container. */
void ar_doctor_examine_calls(struct ar_findings *findings, const char *root);

/* --- network (doctor_network.c) and devices (doctor_devices.c) --- */

/* Network cards, and what the environment says to MPI about them.  nodes: of the job; 0 where that
 * is not known. */
void ar_doctor_examine_network(struct ar_findings *findings, const char *root, int nodes);

/* Which runtime for accelerators the program loads, by the lines of its dynamic linker. */
void ar_doctor_examine_devices(struct ar_findings *findings, const char *libraries);

/* XPMEM, by which ranks read each other's buffers in place: silent where neither its module nor its
 * library is there. */
void ar_doctor_examine_xpmem(struct ar_findings *findings, const char *root);

#endif
