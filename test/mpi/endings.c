/* Programs whose ends are not simple, and those that start others.
 *
 * usage: endings WHAT, of which
 *   at_exit  half of the ranks make their last call and MPI_Finalize in main, the
 *            others in an exit handler
 *   fork     a child of each rank ends by exit, before the parent does
 *   daemon   a grandchild that outlives its rank ends by exit, half a second later
 *   exec, vfork, spawn, system, popen
 *            each rank starts a shell in that way, which checks what it has inherited
 *   fails    one rank after the other runs the command $FAILS, which fails
 * Several kinds other than at_exit may be named; a call follows each.
 */
#include <config.h>

#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mpi_check.h"

extern char **environ;

/* In the new program none of our files is open, and the library's variable is still set. */
static const char look[] =
    "! ls -l /proc/$$/fd | grep liballreduce && test -n \"$LD_PRELOAD\" && exit 5";
static char *const shell[] = {"sh", "-c", (char *)look, NULL};
static pid_t parent;

static void
finish(void)
{
    int finalized;
    if (getpid() != parent || MPI_Finalized(&finalized) || finalized)
        return;
    check_ping(MPI_COMM_WORLD, "the last call");
    if (check_end())
        _exit(1);
}

static void
expect_end(pid_t child, int wanted)
{
    int status = -1;
    check_true(child > 0 && waitpid(child, &status, 0) == child);
    check_true(WIFEXITED(status) && WEXITSTATUS(status) == wanted);
}

/* MPI's memory, too, is the process's own: a child has a copy, and what is given up becomes zero.
 */
static void
run_fork(void)
{
    enum { BYTES = 1 << 20 };
    char *block;
    MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &block);
    memset(block, 1, BYTES);
    const pid_t child = fork();
    if (child == 0) {
        memset(block, 2, BYTES);
        exit(3);
    }
    expect_end(child, 3);
    char *const page = block + (4096 - (uintptr_t)block % 4096);
    check_true(*page == 1 && madvise(page, 4096, MADV_DONTNEED) == 0 && *page == 0);
    MPI_Free_mem(block);
}

static void
run_daemon(void)
{
    const pid_t child = fork();
    if (child > 0)
        expect_end(child, 0);
    if (child != 0)
        return;
    if (daemon(0, 0))
        _exit(1);
    usleep(500000);
    exit(0);
}

static void
run_exec(void)
{
    const pid_t child = fork();
    if (child == 0) {
        execvp(shell[0], shell);
        _exit(1);
    }
    expect_end(child, 5);
}

static void
run_vfork(void)
{
    const pid_t child = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork) */
    if (child == 0) {
        execvp(shell[0], shell);
        _exit(1);
    }
    expect_end(child, 5);
}

static void
run_spawn(void)
{
    pid_t child;
    check_true(posix_spawnp(&child, shell[0], NULL, NULL, shell, environ) == 0);
    expect_end(child, 5);
}

static void
run_system(void)
{
    const int status = system(look); /* NOLINT(cert-env33-c) */
    check_true(WIFEXITED(status) && WEXITSTATUS(status) == 5);
}

static void
run_popen(void)
{
    FILE *const from = popen(look, "r"); /* NOLINT(cert-env33-c) */
    check_true(from && fgetc(from) == EOF);
    const int status = from ? pclose(from) : -1;
    check_true(WIFEXITED(status) && WEXITSTATUS(status) == 5);
}

static void
run_fails(void)
{
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int turn = 0; turn < size; turn++) {
        const int status = turn == rank ? system(getenv("FAILS")) : 1; /* NOLINT(cert-env33-c) */
        check_true(status != 0);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int
main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } kinds[] = {{"fork", run_fork},   {"daemon", run_daemon}, {"exec", run_exec},
                 {"vfork", run_vfork}, {"spawn", run_spawn},   {"system", run_system},
                 {"popen", run_popen}, {"fails", run_fails}};
    int rank;
    parent = getpid();
    atexit(finish);
    check_begin(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    check_ping(MPI_COMM_WORLD, "the first call");
    for (int arg = 1; arg < argc; arg++)
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (strcmp(argv[arg], kinds[i].name) == 0) {
                kinds[i].run();
                check_ping(MPI_COMM_WORLD, kinds[i].name);
            }
    if (argc > 1 && strcmp(argv[1], "at_exit") == 0 && rank % 2 == 0)
        finish();
    return 0;
}
