/* Calls while the environment lacks something, which each rank takes away from itself.  Every
 * result is right, or all ranks get the same MPI error.
 *
 * usage: environment STEP...   taken in this order by all ranks; R:STEP by rank R alone
 *   world, fresh  calls on MPI_COMM_WORLD, or on a communicator without calls so far
 *   pairs         calls on a communicator of each pair of ranks, in either order
 *   files         opens files until no more can be opened
 *   decoys        makes 200 unnamed memory files as large as ours may be
 *   NAME=N        sets the limit files, space, locked, size or stack to N bytes or files;
 *                 of space +N: to what is in use, and N more
 *   shm=OPTIONS   has a /dev/shm of its own, a tmpfs with these options
 *   dev           has an empty /dev, proc an empty /proc, and sys an empty /sys
 *   host          has another host name
 *   cpu=N         runs on CPU N alone
 *   contexts      copies MPI_COMM_WORLD until MPI has no more communicators
 *   selves        the same of MPI_COMM_SELF
 *   free          frees all copies but one
 *   thread=N      calls on a communicator without calls so far, by a thread with N bytes of stack
 *   flags         from here on no step may leave a floating-point exception
 *   traps         inexact and invalid results, overflows and divisions by zero trap, up to
 * MPI_Finalize
 */
#include <config.h> /* _GNU_SOURCE */
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include "mpi_check.h"

#define FRESH_MOST  8
#define COPIES_MOST 100000 /* Open MPI makes as many as memory allows */

static MPI_Comm fresh[FRESH_MOST];
static int nfresh;
static MPI_Comm copies[COPIES_MOST];
static int ncopies;
static int right, errors; /* calls */

static void
call(MPI_Comm comm, const char *what)
{
    static const int counts[] = {1, 300, CHECK_ALIKE_MOST};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (int in_place = 0; in_place < 2; in_place++)
            *(check_call_alike(comm, counts[i], in_place, what) ? &errors : &right) += 1;
}

static void
call_fresh(const char *what)
{
    if (nfresh == 0)
        check_fail("%s: no communicator is left", what);
    else
        call(fresh[--nfresh], what);
}

static void
call_pairs(const struct check_comm *world)
{
    MPI_Group all, pair;
    MPI_Comm comm;
    MPI_Comm_group(world->comm, &all);
    for (int i = 0; i < world->nranks * world->nranks; i++) {
        const int ranks[2] = {i / world->nranks, i % world->nranks};
        if (ranks[0] == ranks[1] || (world->rank != ranks[0] && world->rank != ranks[1]))
            continue;
        MPI_Group_incl(all, 2, ranks, &pair);
        MPI_Comm_create_group(world->comm, pair, i, &comm);
        call(comm, "pairs");
        MPI_Comm_free(&comm);
        MPI_Group_free(&pair);
    }
    MPI_Group_free(&all);
}

static void *
call_in_thread(void *what)
{
    call_fresh(what);
    return NULL;
}

static void
begin_thread(char *what, const char *bytes)
{
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    check_true(pthread_attr_setstacksize(&attributes, strtoul(bytes, NULL, 10)) == 0);
    check_true(pthread_create(&thread, &attributes, call_in_thread, what) == 0);
    check_true(pthread_join(thread, NULL) == 0);
}

static void
copy(MPI_Comm comm)
{
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    while (ncopies < COPIES_MOST && MPI_Comm_dup(comm, &copies[ncopies]) == MPI_SUCCESS)
        ncopies++;
}

static void
free_copies(void)
{
    while (ncopies > 1)
        MPI_Comm_free(&copies[--ncopies]);
}

/* The size of the address space in use. */
static rlim_t
space_in_use(void)
{
    unsigned long pages = 0;
    FILE *const file = fopen("/proc/self/statm", "re");
    check_true(file && fscanf(file, "%lu", &pages) == 1);
    if (file)
        fclose(file);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static void
limit(const char *step)
{
    static const struct {
        const char *name;
        int resource;
    } limits[] = {{"files=", RLIMIT_NOFILE},
                  {"locked=", RLIMIT_MEMLOCK},
                  {"size=", RLIMIT_FSIZE},
                  {"space=", RLIMIT_AS},
                  {"stack=", RLIMIT_STACK}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const size_t length = strlen(limits[i].name);
        if (strncmp(step, limits[i].name, length) != 0)
            continue;
        struct rlimit now;
        const char *const value = step + length;
        getrlimit(limits[i].resource, &now);
        now.rlim_cur = (rlim_t)strtoul(value, NULL, 10) + (*value == '+' ? space_in_use() : 0);
        if (setrlimit(limits[i].resource, &now))
            check_fail("%s: the limit cannot be set", step);
        return;
    }
    check_fail("no such step: %s", step);
}

static void
make_decoys(void)
{
    for (int i = 0; i < 200; i++) {
        const int fd = memfd_create("liballreduce-decoy", 0);
        check_true(fd >= 0 && ftruncate(fd, (off_t)1 << 30) == 0);
    }
}

/* In a namespace of its own. */
static void
cover(const char *folder, const char *options)
{
    if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("none", folder, "tmpfs", strcmp(options, "ro") ? 0 : MS_RDONLY,
              strcmp(options, "ro") ? options : NULL))
        check_fail("nothing can be mounted on %s: %s", folder, strerror(errno));
}

static void
rename_host(void)
{
    static const char name[] = "elsewhere";
    if (unshare(CLONE_NEWUTS) || sethostname(name, strlen(name)))
        check_fail("the host's name cannot be changed: %s", strerror(errno));
}

static void
run_on(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    check_true(sched_setaffinity(0, sizeof set, &set) == 0);
}

/* Whether it is a step that changes the system. */
static bool
deprive(const char *step)
{
    if (strncmp(step, "shm=", 4) == 0)
        cover("/dev/shm", step + 4);
    else if (strcmp(step, "dev") == 0)
        cover("/dev", "");
    else if (strcmp(step, "proc") == 0)
        cover("/proc", "");
    else if (strcmp(step, "sys") == 0)
        cover("/sys", "");
    else if (strcmp(step, "host") == 0)
        rename_host();
    else if (strncmp(step, "cpu=", 4) == 0)
        run_on(atoi(step + 4));
    else
        return false;
    return true;
}

static int
end_traps(MPI_Comm self, int keyval, void *value, void *extra)
{
    (void)self;
    (void)keyval;
    (void)value;
    (void)extra;
    fedisableexcept(FE_ALL_EXCEPT);
    return MPI_SUCCESS;
}

/* Until MPI_Finalize is under way, where MPICH's own network computes with such numbers. */
static void
begin_traps(void)
{
    int keyval;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_traps, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
    feenableexcept(FE_INEXACT | FE_INVALID | FE_OVERFLOW | FE_DIVBYZERO);
}

static bool watches_flags;

static void
check_flags(const char *step)
{
    const int raised = fetestexcept(FE_ALL_EXCEPT);
    if (watches_flags && raised != 0)
        check_fail("%s: floating-point exceptions 0x%x", step, (unsigned)raised);
    feclearexcept(FE_ALL_EXCEPT);
}

static void
take(char *step, const struct check_comm *world)
{
    if (strcmp(step, "world") == 0)
        call(MPI_COMM_WORLD, step);
    else if (strcmp(step, "pairs") == 0)
        call_pairs(world);
    else if (strcmp(step, "fresh") == 0)
        call_fresh(step);
    else if (strncmp(step, "thread=", 7) == 0)
        begin_thread(step, step + 7);
    else if (strcmp(step, "contexts") == 0)
        copy(MPI_COMM_WORLD);
    else if (strcmp(step, "selves") == 0)
        copy(MPI_COMM_SELF);
    else if (strcmp(step, "free") == 0)
        free_copies();
    else if (strcmp(step, "decoys") == 0)
        make_decoys();
    else if (strcmp(step, "flags") == 0)
        watches_flags = feclearexcept(FE_ALL_EXCEPT) == 0;
    else if (strcmp(step, "traps") == 0)
        begin_traps();
    else if (strcmp(step, "files") == 0)
        while (open("/dev/null", O_RDONLY) >= 0)
            continue;
    else if (!deprive(step))
        limit(step);
}

int
main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    const struct check_comm world = check_describe(MPI_COMM_WORLD, "world");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    while (nfresh < FRESH_MOST)
        MPI_Comm_dup(MPI_COMM_WORLD, &fresh[nfresh++]);
    for (int i = 1; i < argc; i++) {
        char *const colon = strchr(argv[i], ':');
        if (!colon || atoi(argv[i]) == world.rank)
            take(colon ? colon + 1 : argv[i], &world);
        check_flags(argv[i]);
        check_watch(argv[i]);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    check_watch(NULL);
    printf("rank %d: %d calls right, %d errors, %d copies\n", world.rank, right, errors, ncopies);
    return check_end();
}
