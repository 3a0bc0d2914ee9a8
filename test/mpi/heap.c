/* malloc(3), whose large blocks may be in the heap that peers can map, as malloc(3) is.
 *
 *     heap shared     blocks of 64 KiB or more are there
 *     heap private    none is
 */
#include <config.h> /* _GNU_SOURCE */

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mpi_check.h"

#define LIMIT ((size_t)64 << 10)

extern char **environ;

static bool is_shared; /* large blocks are to be in the heap */

/* Is the address in a file of memory of ours? */
static bool
is_in_heap(const void *block)
{
    FILE *const maps = fopen("/proc/self/maps", "re");
    char line[512];
    size_t begin, end;
    bool is = false;
    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%zx-%zx ", &begin, &end) == 2 && (size_t)block >= begin &&
            (size_t)block < end)
            is = strstr(line, "/memfd:liballreduce-");
    if (maps)
        fclose(maps);
    return is;
}

static void
fill(char *block, size_t bytes, char with)
{
    memset(block, with, bytes);
}

static bool
is_filled(const char *block, size_t bytes, char with)
{
    size_t i = 0;
    while (i < bytes && block[i] == with)
        i++;
    return i == bytes;
}

/* --- malloc(3) --- */

static void
take_in_every_way(void)
{
    void *block = NULL;
    char *const small = malloc(LIMIT - 1), *const large = malloc(LIMIT);
    check_true(small && large && !is_in_heap(small) && is_in_heap(large) == is_shared);
    check_true(malloc_usable_size(large) >= LIMIT && malloc_usable_size(NULL) == 0);
    fill(large, LIMIT, 'x');
    free(large);
    char *const zero = calloc(1000, 1000);
    check_true(is_filled(zero, 1000000, 0) && is_in_heap(zero) == is_shared);
    volatile size_t huge = SIZE_MAX / 2;
    char *const too_many = calloc(huge, 3), *const too_large = malloc(huge);
    check_true(!too_many && !too_large);
    char *volatile same = zero; /* the compiler may not know that it stays */
    char *const resized = realloc(same, huge);
    check_true(!resized && is_filled(zero, 1000000, 0));
    free(too_many);
    free(too_large);
    free(resized);
    for (size_t alignment = sizeof(void *); alignment <= (size_t)1 << 21; alignment *= 2) {
        check_true(posix_memalign(&block, alignment, LIMIT) == 0);
        check_true((uintptr_t)block % alignment == 0);
        free(block);
        block = aligned_alloc(alignment, (size_t)1 << 21);
        check_true(block && (uintptr_t)block % alignment == 0);
        check_true(is_in_heap(block) == (is_shared && alignment <= 4096));
        free(block);
        block = memalign(alignment, LIMIT);
        check_true(block && (uintptr_t)block % alignment == 0);
        free(block);
    }
    volatile size_t three = 3;
    check_true(posix_memalign(&block, three, LIMIT) == EINVAL);
    free(small);
    free(zero);
    free(NULL);
}

/* Grown by realloc across the limit, and shrunk again. */
static void
resize_across_the_limit(void)
{
    char *block = NULL;
    size_t had = 0;
    static const size_t sizes[] = {1,       1000,      LIMIT - 1, LIMIT, 3 * LIMIT, 100 * LIMIT,
                                   2000000, LIMIT + 1, LIMIT,     5000,  LIMIT + 7, 1};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        block = realloc(block, sizes[i]);
        check_true(block && is_in_heap(block) == (is_shared && sizes[i] >= LIMIT));
        check_true(is_filled(block, had < sizes[i] ? had : sizes[i], 'r'));
        fill(block, sizes[i], 'r');
        had = sizes[i];
    }
    free(block);
}

/* --- against a model --- */

enum { BLOCKS = 40, STEPS = 4000 };

/* Each block is filled with its own byte, at its ends. */
static void *
take_and_give_at_random(void *seed)
{
    uint64_t state = *(uint64_t *)seed;
    char *block[BLOCKS] = {NULL};
    size_t bytes[BLOCKS] = {0};
    for (int step = 0; step < STEPS; step++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const size_t i = (state >> 33) % BLOCKS, wanted = 1 + (state >> 40) % (4 * LIMIT);
        const char mine = (char)(i + *(uint64_t *)seed * BLOCKS);
        const size_t kept = bytes[i] < wanted ? bytes[i] : wanted;
        if (block[i] && (block[i][0] != mine || block[i][bytes[i] - 1] != mine))
            check_fail("block %zu of %zu bytes has other data", i, bytes[i]);
        if (block[i] && step % 3 == 0) {
            free(block[i]);
            block[i] = NULL;
            bytes[i] = 0;
            continue;
        }
        char *const taken =
            bytes[i] == 0 && step % 2 ? calloc(1, wanted) : realloc(block[i], wanted);
        if (!taken)
            MPI_Abort(MPI_COMM_WORLD, 1);
        block[i] = taken;
        if (kept > 0 && block[i][0] != mine)
            check_fail("block %zu has lost its data", i);
        if (kept == 0 && step % 2 && (block[i][0] || block[i][wanted - 1]))
            check_fail("block %zu of calloc is not zero", i);
        block[i][0] = block[i][wanted - 1] = mine;
        bytes[i] = wanted;
    }
    for (int i = 0; i < BLOCKS; i++)
        free(block[i]);
    return NULL;
}

static void
take_in_threads(void)
{
    enum { THREADS = 3 };
    pthread_t thread[THREADS];
    uint64_t seed[THREADS];
    for (int i = 0; i < THREADS; i++) {
        seed[i] = (uint64_t)i;
        check_true(pthread_create(&thread[i], NULL, take_and_give_at_random, &seed[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
}

/* --- processes --- */

static void
expect_child(pid_t child, const char *what)
{
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        check_fail("%s: status %d", what, status);
}

static void
write_on_both_sides(char *block, size_t bytes)
{
    int down[2], up[2];
    char byte;
    check_true(pipe(down) == 0 && pipe(up) == 0);
    fill(block, bytes, 'a');
    const pid_t child = fork();
    if (child == 0) {
        bool is_right = is_filled(block, bytes, 'a');
        fill(block, bytes, 'c');
        is_right &= write(up[1], "c", 1) == 1 && read(down[0], &byte, 1) == 1;
        is_right &= is_filled(block, bytes, 'c');
        char *const other = calloc(1, bytes);
        is_right &= other && is_filled(other, bytes, 0);
        free(other);
        free(block);
        _exit(is_right ? 0 : 1);
    }
    close(down[0]), close(up[1]); /* a child that fails is not waited for */
    fill(block, bytes, 'p');
    check_true(read(up[0], &byte, 1) == 1 && is_filled(block, bytes, 'p'));
    check_true(write(down[1], "p", 1) == 1);
    expect_child(child, "fork");
    check_true(is_filled(block, bytes, 'p'));
    close(down[1]), close(up[0]);
}

/* A stack with a page that nobody may touch. */
static void
fork_with_a_protected_page(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = 4 * LIMIT;
    char *const stack = aligned_alloc(page, bytes);
    if (!stack) {
        check_fail("no memory");
        return;
    }
    fill(stack, bytes, 's');
    check_true(mprotect(stack + LIMIT, page, PROT_NONE) == 0);
    const pid_t child = fork();
    if (child == 0)
        _exit(is_filled(stack, LIMIT, 's') &&
                      is_filled(stack + LIMIT + page, bytes - LIMIT - page, 's')
                  ? 0
                  : 1);
    expect_child(child, "fork with a protected page");
    check_true(mprotect(stack + LIMIT, page, PROT_READ | PROT_WRITE) == 0);
    check_true(is_filled(stack, bytes, 's'));
    free(stack);
}

static void
start_in_every_way(void)
{
    char *const block = malloc(20 * LIMIT);
    char *const command[] = {"true", NULL};
    pid_t child = -1;
    write_on_both_sides(block, 20 * LIMIT);
    fill(block, 20 * LIMIT, 'q');
    check_true(posix_spawnp(&child, "true", NULL, NULL, command, environ) == 0);
    expect_child(child, "posix_spawn");
    child = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork) */
    if (child == 0) {
        execvp("true", command);
        _exit(1);
    }
    expect_child(child, "vfork and exec");
    child = fork();
    if (child == 0) {
        execvp("true", command);
        _exit(1);
    }
    expect_child(child, "fork and exec");
    /* A program that is started has no heap, although it inherits the environment. */
    /* NOLINTNEXTLINE(cert-env33-c) */
    check_true(system("! grep -q memfd:liballreduce /proc/self/maps") == 0);
    check_true(is_filled(block, 20 * LIMIT, 'q'));
    free(block);
}

int
main(int argc, char **argv)
{
    char *const before = malloc(LIMIT);
    check_true(before && !is_in_heap(before));
    const bool has_threads = check_begin_threads(&argc, &argv);
    is_shared = argc > 1 && strcmp(argv[1], "shared") == 0;
    char *const grown = realloc(before, 2 * LIMIT);
    if (!grown) {
        free(before);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    check_true(is_in_heap(grown) == is_shared);
    free(grown);
    take_in_every_way();
    resize_across_the_limit();
    take_in_threads();
    start_in_every_way();
    fork_with_a_protected_page();
    if (has_threads)
        check_ping(MPI_COMM_WORLD, "ping");
    return check_end();
}
