#include <config.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "helper/doctor.h"

/* --- what ranks call, tried on this process; each is 0 or -1 with errno --- */

static int
try_memfd(void)
{
    const int fd = memfd_create("liballreduce-doctor", MFD_CLOEXEC);
    return fd < 0 ? -1 : close(fd);
}

static int
try_read(void)
{
    char from = 0, to = 1;
    const struct iovec here = {&to, 1}, there = {&from, 1};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1 ? 0 : -1;
}

static int
try_binding(void)
{
    struct ar_cpus cpus;
    return ar_cpus_of_thread(&cpus) && ar_cpus_bind_thread(&cpus) ? 0 : -1;
}

static const struct {
    const char *name;
    int (*try)(void);
    const char *advice;
} calls[] = {
    {"memfd_create", try_memfd,
     "ranks share memory through /dev/shm instead, which must have enough room; allow memfd_create "
     "in the container's filter"},
    {"process_vm_readv", try_read,
     "MPI libraries then copy long messages within a node twice; allow process_vm_readv in the "
     "container's filter (docker: --cap-add SYS_PTRACE)"},
    {"sched_setaffinity", try_binding,
     "launchers cannot bind ranks to cores; allow sched_setaffinity in the container's filter"},
};

/* --- who forbids them --- */

/* Has this process a filter of system calls?  False where /proc does not tell. */
static bool
has_filter(const char *root)
{
    char path[256], line[128];
    bool has = false;
    snprintf(path, sizeof path, "%s/proc/self/status", root);
    FILE *const file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        has |= strncmp(line, "Seccomp:", 8) == 0 && strchr(line + 8, '2');
    if (file)
        fclose(file);
    return has;
}

void
ar_doctor_examine_calls(struct ar_findings *findings, const char *root)
{
    const bool filtered = has_filter(root);
    bool is_free = true;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        if (calls[i].try() == 0)
            continue;
        const int error = errno;
        is_free = false;
        ar_find(findings, AR_SEVERITY_WARNING, "kernel", calls[i].advice, "%s is refused%s: %s",
                calls[i].name, filtered ? " by a filter of system calls (seccomp)" : "",
                strerror(error));
    }
    if (is_free)
        ar_find(findings, AR_SEVERITY_OK, "kernel", NULL,
                "memfd_create, process_vm_readv and sched_setaffinity are allowed%s",
                filtered ? ", by a filter of system calls (seccomp)" : "");
}
