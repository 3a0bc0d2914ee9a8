#include "config.h"

#include "helper/buffers.h"

#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/say.h"

#define ALIGNMENT 4096

static char *
allocate(size_t slots, size_t slot_bytes)
{
    void *memory = NULL;
    if (slots > SIZE_MAX / slot_bytes || posix_memalign(&memory, ALIGNMENT, slots * slot_bytes)) {
        ar_say("no memory for %zu buffers of %zu bytes", slots, slot_bytes);
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

void
ar_buffers_init(struct ar_buffers *b, size_t bytes, size_t rotate_bytes)
{
    b->slot_bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    b->slots = rotate_bytes / b->slot_bytes + 1;
    b->next = 0;
    b->in = allocate(b->slots, b->slot_bytes);
    b->out = allocate(b->slots, b->slot_bytes);
    b->native = allocate(1, b->slot_bytes);
}

void
ar_buffers_fini(struct ar_buffers *b)
{
    free(b->in);
    free(b->out);
    free(b->native);
}

void
ar_buffers_fill(const struct ar_buffers *b, const struct ar_judge *judge, size_t count,
                bool is_in_place)
{
    for (size_t i = 0; i < b->slots; i++) {
        memset(b->out + i * b->slot_bytes, 0, b->slot_bytes);
        if (!is_in_place)
            ar_judge_fill(judge, b->in + i * b->slot_bytes, count);
    }
}

void
ar_buffer_use(char *buffer, size_t bytes, bool writes)
{
    volatile size_t *const words = (volatile size_t *)(void *)buffer;
    for (size_t i = 0; i < bytes / sizeof *words; i++) {
        const size_t word = words[i];
        if (writes)
            words[i] = word;
    }
}
