#include "resources.h"

#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mpi_check.h"

#define IDS_MOST 2100 /* more than MPICH has */

static FILE *file;
static struct timespec begun;

static double
seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begun.tv_sec) + (double)(now.tv_nsec - begun.tv_nsec) * 1e-9;
}

/* A number from /proc/self/status. */
static long
status(const char *name)
{
    char line[256];
    long value = -1;
    const size_t length = strlen(name);
    FILE *const from = fopen("/proc/self/status", "r");
    while (from && fgets(line, sizeof line, from))
        if (strncmp(line, name, length) == 0 && line[length] == ':')
            value = strtol(line + length + 1, NULL, 10);
    if (from)
        fclose(from);
    return value;
}

/* The number of files in a folder whose names begin so. */
static int
entries(const char *folder, const char *prefix)
{
    int n = 0;
    DIR *const dir = opendir(folder);
    for (const struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir))
        n += entry->d_name[0] != '.' && strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
    if (dir)
        closedir(dir);
    return n;
}

static int
mappings(void)
{
    int n = 0;
    FILE *const maps = fopen("/proc/self/maps", "r");
    for (int c = maps ? getc(maps) : EOF; c != EOF; c = getc(maps))
        n += c == '\n';
    if (maps)
        fclose(maps);
    return n;
}

static size_t
heap(void)
{
#if __GLIBC_PREREQ(2, 33)
    const struct mallinfo2 info = mallinfo2();
#else
    const struct mallinfo info = mallinfo();
#endif
    return (size_t)info.uordblks + (size_t)info.hblkhd;
}

/* How many communicators can still be made.  Open MPI has too many to try, so its lowest free
 * context id tells how many are left. */
static int
ids_left(void)
{
    static MPI_Comm made[IDS_MOST];
    int n = 0;
#ifdef OPEN_MPI
    MPI_Comm_dup(MPI_COMM_WORLD, &made[0]);
    n = 32768 - (int)MPI_Comm_c2f(made[0]);
    MPI_Comm_free(&made[0]);
#else
    MPI_Errhandler handler;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    while (n < IDS_MOST && MPI_Comm_dup(MPI_COMM_WORLD, &made[n]) == MPI_SUCCESS)
        n++;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Errhandler_free(&handler);
    for (int i = 0; i < n; i++)
        MPI_Comm_free(&made[i]);
#endif
    return n;
}

void
resources_open(const char *prefix)
{
    char path[4096];
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s-%d.csv", prefix, rank);
    file = fopen(path, "w");
    if (!file) {
        check_fail("%s cannot be written", path);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    clock_gettime(CLOCK_MONOTONIC, &begun);
    fprintf(file, "seconds,bare,calls,resident_kib,anonymous_kib,shared_kib,mapped_kib,heap_kib,"
                  "mappings,descriptors,threads,shm_files,ids_left\n");
}

void
resources_take(unsigned calls, bool is_bare)
{
    const int ids = is_bare ? ids_left() : 0;
    fprintf(file, "%.1f,%d,%u,%ld,%ld,%ld,%ld,%zu,%d,%d,%ld,%d,", seconds(), is_bare, calls,
            status("VmRSS"), status("RssAnon"), status("RssShmem"), status("VmSize"), heap() / 1024,
            mappings(), entries("/proc/self/fd", ""), status("Threads"),
            entries("/dev/shm", "liballreduce-"));
    if (is_bare)
        fprintf(file, "%d", ids);
    fprintf(file, "\n");
    fflush(file);
}

void
resources_close(void)
{
    fclose(file);
}
