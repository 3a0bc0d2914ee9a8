/* How far MPI_Allreduce between two ranks is from what the machine can do, all in one run:
 *
 * round trip   a cache line to the other core and back
 * memcpy       both ranks copy n bytes at once: read n, write n
 * swap         both copy n bytes into shared memory, chunk by chunk, and n bytes out of the
 *              other's: what passing a vector through memory takes without reducing it
 * streamed     the same, but what is copied into shared memory goes past the caches
 * exchanged    through the caches, but each copies to where it has read the other's before
 *
 * Prints CSV, medians of batches.  To be run on 2 ranks under the preload.
 */
#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "median.h"
#include "reduce/copy.h"

enum { BATCHES = 15, SLOTS = 4, CHUNK = 128 << 10 };
#define SHORTEST ((size_t)4 << 10)
#define LARGEST  ((size_t)64 << 20)
#define WORK     ((size_t)32 << 20) /* bytes a batch */

struct flag {
    _Alignas(128) _Atomic uint64_t value;
};

/* Of one rank. */
struct side {
    struct flag flag;
    char slots[SLOTS][CHUNK];
};

static int rank;
static struct side *mine, *theirs, *sides[2];
static uint64_t sequence;
static char *in, *out;

static void
await(struct flag *flag, uint64_t value)
{
    while (atomic_load_explicit(&flag->value, memory_order_acquire) < value)
        continue;
}

static void
raise_mine(uint64_t value)
{
    atomic_store_explicit(&mine->flag.value, value, memory_order_release);
}

static void
round_trip(size_t bytes)
{
    (void)bytes;
    sequence++;
    if (rank == 0)
        raise_mine(sequence);
    await(&theirs->flag, sequence);
    if (rank == 1)
        raise_mine(sequence);
}

static void
copy_bytes(void *dst, const void *src, size_t bytes)
{
    memcpy(dst, src, bytes);
}

static void
copy(size_t bytes)
{
    copy_bytes(out, in, bytes);
}

static char *
slot_of(int owner, uint64_t number, bool exchanges)
{
    return sides[exchanges && number / SLOTS % 2 ? 1 - owner : owner]->slots[number % SLOTS];
}

/* A slot is written again when the other has read it: it has published a later chunk then. */
static void
swap_by(void (*store)(void *, const void *, size_t), bool exchanges, size_t bytes)
{
    const size_t chunks = (bytes + CHUNK - 1) / CHUNK;
    for (size_t k = 0; k <= chunks; k++) {
        const size_t at = k * CHUNK, length = bytes - at < CHUNK ? bytes - at : CHUNK;
        if (k < chunks) {
            store(slot_of(rank, sequence + k + 1, exchanges), in + at, length);
            raise_mine(sequence + k + 1);
        }
        if (k == 0)
            continue;
        const size_t from = at - CHUNK, rest = bytes - from < CHUNK ? bytes - from : CHUNK;
        await(&theirs->flag, sequence + k);
        memcpy(out + from, slot_of(1 - rank, sequence + k, exchanges), rest);
    }
    sequence += chunks;
}

static void
swap(size_t bytes)
{
    swap_by(copy_bytes, false, bytes);
}

static void
swap_streamed(size_t bytes)
{
    swap_by(ar_copy_streaming, false, bytes);
}

static void
swap_exchanged(size_t bytes)
{
    swap_by(copy_bytes, true, bytes);
}

static void
reduce(size_t bytes)
{
    MPI_Allreduce(in, out, (int)(bytes / sizeof(float)), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

/* Microseconds a call. */
static double
time_batch(void (*call)(size_t), size_t bytes, int calls)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < calls; i++)
        call(bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    return (MPI_Wtime() - start) / calls * 1e6;
}

/* So many that the barriers around them do not count. */
static int
calls_of(size_t bytes)
{
    const size_t calls = WORK / bytes;
    return calls < 3 ? 3 : calls > 20000 ? 20000 : (int)calls;
}

/* medians[i] of calls[i], in turn. */
static void
time_all(double *medians, void (*const *calls)(size_t), int ncalls, size_t bytes)
{
    double us[5][BATCHES];
    const int times = calls_of(bytes);
    for (int b = -1; b < BATCHES; b++)
        for (int i = 0; i < ncalls; i++) {
            const double time = time_batch(calls[i], bytes, times);
            if (b >= 0)
                us[i][b] = time;
        }
    for (int i = 0; i < ncalls; i++)
        medians[i] = median(us[i], BATCHES);
}

static void
print_all(void)
{
    void (*const shortest[])(size_t) = {round_trip, reduce};
    void (*const longest[])(size_t) = {copy, swap, swap_streamed, swap_exchanged, reduce};
    double us[5];
    if (rank == 0)
        printf("bytes,round_trip_us,memcpy_us,swap_us,streamed_us,exchanged_us,allreduce_us\n");
    time_all(us, shortest, 2, 8);
    if (rank == 0)
        printf("8,%.3f,,,,,%.3f\n", us[0], us[1]);
    for (size_t bytes = SHORTEST; bytes <= LARGEST; bytes *= 2) {
        time_all(us, longest, 5, bytes);
        if (rank == 0)
            printf("%zu,,%.3f,%.3f,%.3f,%.3f,%.3f\n", bytes, us[0], us[1], us[2], us[3], us[4]);
    }
}

static struct side *
side_of(MPI_Win window, int owner)
{
    MPI_Aint bytes;
    int unit;
    void *base;
    MPI_Win_shared_query(window, owner, &bytes, &unit, &base);
    return base;
}

int
main(int argc, char **argv)
{
    MPI_Win window;
    void *base;
    int nranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    in = calloc(1, LARGEST);
    out = calloc(1, LARGEST);
    if (nranks != 2 || !in || !out) {
        fprintf(stderr, "limits: wants 2 ranks and memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Win_allocate_shared(sizeof(struct side), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    memset(base, 0, sizeof(struct side));
    sides[0] = side_of(window, 0);
    sides[1] = side_of(window, 1);
    mine = sides[rank];
    theirs = sides[1 - rank];
    memset(in, 1, LARGEST);
    print_all();
    MPI_Win_free(&window);
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
