/* Runs a program that some system calls are forbidden to, as containers do by seccomp:
 *
 *     forbid_system_calls memfd_create process_vm_readv -- PROGRAM [ARGUMENT...]
 *
 * They fail with EPERM. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *name;
    unsigned number;
} calls[] = {
    {"memfd_create", SYS_memfd_create},
    {"process_vm_readv", SYS_process_vm_readv},
    {"sched_setaffinity", SYS_sched_setaffinity},
};

/* 0 or -1; for this process and those that it becomes. */
static int
forbid(unsigned number)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
               ? -1
               : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int
main(int argc, char **argv)
{
    int at = 1;
    for (; at < argc && strcmp(argv[at], "--") != 0; at++) {
        size_t i = 0;
        while (i < sizeof calls / sizeof calls[0] && strcmp(calls[i].name, argv[at]) != 0)
            i++;
        if (i == sizeof calls / sizeof calls[0] || forbid(calls[i].number)) {
            fprintf(stderr, "forbid: cannot forbid %s\n", argv[at]);
            return 2;
        }
    }
    if (at + 1 >= argc) {
        fprintf(stderr, "usage: forbid_system_calls CALL... -- PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    execvp(argv[at + 1], argv + at + 1);
    perror(argv[at + 1]);
    return 127;
}
