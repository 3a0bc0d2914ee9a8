#include "call/staging.h"

#include <stdlib.h>

#include "communicator/process.h"
#include "report/say.h"

struct ar_owners
ar_owners_of(const struct ar_call *call, const struct ar_reduction *r)
{
    const void *in_place = MPI_IN_PLACE;
    struct ar_owners owners = {NULL, ar_device_of((const char *)call->out + r->true_lb)};
    if (call->in != in_place)
        owners.in = ar_device_of((const char *)call->in + r->true_lb);
    return owners;
}

/* The other ranks wait for this one, and cannot be told. */
static __attribute__((noreturn)) void
end_job(const struct ar_call *call, const struct ar_runtime *runtime, const char *what)
{
    int rank = 0;
    PMPI_Comm_rank(call->comm, &rank);
    ar_say("device memory of %s cannot be copied %s the host on rank %d, in an allreduce of %lld "
           "elements. The other ranks already wait for it, so the job ends. ALLREDUCE_ALGO=native "
           "leaves such calls to the MPI library",
           ar_runtime_name(runtime), what, rank, (long long)call->count);
    ar_job_end(call->comm, true);
}

/* A copy on the host of the elements at `device`; *room is to be freed. */
static int
fetch(const struct ar_call *call, const struct ar_reduction *r, const struct ar_runtime *runtime,
      const void *device, bool fills, void **room, void **elements)
{
    const size_t count = (size_t)call->count;
    const ptrdiff_t first = ar_reduction_first_byte(r, count);
    *room = ar_reduction_room_allocate(r, count);
    if (!*room)
        return MPI_ERR_NO_MEM;
    *elements = ar_reduction_base(r, *room, count);
    if (fills && !ar_device_fetch(runtime, (char *)*elements + first, (const char *)device + first,
                                  ar_reduction_span_bytes(r, count)))
        end_job(call, runtime, "to");
    return MPI_SUCCESS;
}

int
ar_staging_begin(struct ar_staging *s, const struct ar_call *call, const struct ar_reduction *r,
                 struct ar_owners owners)
{
    const void *in_place = MPI_IN_PLACE;
    void *elements;
    int error = MPI_SUCCESS;
    *s = (struct ar_staging){.call = *call, .owners = owners};
    if (owners.in) {
        error = fetch(call, r, owners.in, call->in, true, &s->in_room, &elements);
        s->call.in = error ? NULL : elements;
    }
    if (!error && owners.out) {
        const bool fills = call->in == in_place || !r->dense;
        error = fetch(call, r, owners.out, call->out, fills, &s->out_room, &elements);
        s->call.out = error ? NULL : elements;
    }
    return error;
}

void
ar_staging_end(struct ar_staging *s, const struct ar_call *call, const struct ar_reduction *r,
               int error)
{
    const size_t count = (size_t)call->count;
    const ptrdiff_t first = ar_reduction_first_byte(r, count);
    if (!error && s->owners.out &&
        !ar_device_store(s->owners.out, (char *)call->out + first, (char *)s->call.out + first,
                         ar_reduction_span_bytes(r, count)))
        end_job(call, s->owners.out, "from");
    free(s->in_room);
    free(s->out_room);
}
