#include "communicator/devices.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "communicator/decide.h"
#include "device/device.h"
#include "execute/group.h"

/* A kind of call, by what all ranks have alike; of the rest, such as the layout of elements, they
 * may have different ones. */
struct ar_devices_kind {
    unsigned long calls; /* up to now, alike on all ranks; 0: the place is free */
    size_t count, size;
    enum ar_op op;
    enum ar_type_class type;
    bool is_native; /* some rank had device memory, by the last review */
    bool met_some;  /* this rank has had some since */
};

/* *any: does any rank say yes?  Collective over comm. */
static int
ask_all(struct ar_communicator *c, MPI_Comm comm, bool says_yes, bool *any)
{
    struct ar_setup setup;
    int flag = says_yes;
    ar_setup_begin(&setup);
    const int error = ar_reduce_all(&flag, 1, MPI_INT, MPI_LOR, comm);
    ar_setup_end(&setup, c);
    *any = !error && flag;
    return error;
}

static atomic_bool met_devices; /* by this rank, on any communicator */

bool
ar_devices_are_expected(void)
{
    return atomic_load(&met_devices) || ar_devices_are_loaded();
}

/* From now on every call is one at which something may be due. */
void
ar_devices_expect(struct ar_communicator *c)
{
    atomic_store(&met_devices, true);
    c->devices.any = true;
    c->devices.calls_to_review = 0;
    ar_recent_forget(&c->choice.recents, NULL);
}

int
ar_devices_review(struct ar_communicator *c, MPI_Comm comm)
{
    bool any = false;
    c->devices.calls_to_review = 0;
    if (c->devices.any)
        return MPI_SUCCESS;
    const int error = ask_all(c, comm, ar_devices_are_loaded(), &any);
    c->devices.calls_to_review = c->devices.reviewed_calls;
    c->devices.reviewed_calls *= 2;
    if (any)
        ar_devices_expect(c);
    return error;
}

/* Places in which a kind may be. */
#define WAYS 4

/* A kind that is in none of its places begins anew in one of them: alike on all ranks. */
static struct ar_devices_kind *
find_kind(struct ar_communicator *c, const struct ar_reduction *r, size_t count)
{
    const uint64_t hash = ar_call_hash(count, r->size, r->which);
    struct ar_devices_kind *const set =
        &c->devices.kinds[(hash >> 32) % (AR_DEVICES_KINDS / WAYS) * WAYS];
    int i = 0;
    for (; i < WAYS && set[i].calls > 0; i++)
        if (set[i].count == count && set[i].size == r->size && set[i].op == r->which &&
            set[i].type == r->type_class)
            return &set[i];
    struct ar_devices_kind *const kind = &set[i < WAYS ? i : (int)(c->devices.next_kind++ % WAYS)];
    *kind = (struct ar_devices_kind){
        .count = count, .size = r->size, .op = r->which, .type = r->type_class};
    return kind;
}

int
ar_devices_agree(struct ar_communicator *c, MPI_Comm comm, const struct ar_reduction *r,
                 size_t count, bool on_device, bool *for_devices)
{
    int error = MPI_SUCCESS;
    *for_devices = false;
    if (!c->devices.any)
        return MPI_SUCCESS;
    if (!c->devices.kinds)
        c->devices.kinds = calloc(AR_DEVICES_KINDS, sizeof *c->devices.kinds);
    if (!c->devices.kinds)
        return MPI_ERR_NO_MEM;
    struct ar_devices_kind *const kind = find_kind(c, r, count);
    const unsigned long calls = ++kind->calls;
    kind->met_some |= on_device;
    if (calls == 1 || (calls >= AR_REVIEW_CALLS && (calls & (calls - 1)) == 0)) {
        error = ask_all(c, comm, kind->met_some, &kind->is_native);
        kind->met_some = false;
    }
    *for_devices = kind->is_native;
    return error;
}
