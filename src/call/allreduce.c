#include <config.h>

#include "call/allreduce.h"

#include <stdatomic.h>
#include <string.h>

#include "call/leave.h"
#include "call/staging.h"
#include "call/verify.h"
#include "communicator/decide.h"
#include "communicator/devices.h"
#include "communicator/process.h"
#include "communicator/tuner.h"
#include "execute/group.h"
#include "record/deadline.h"
#include "record/statistics.h"
#include "reduce/reduce.h"

static inline enum ar_place
place_of(const struct ar_call *call)
{
    const void *in_place = MPI_IN_PLACE;
    return call->in == in_place ? AR_IN_PLACE : AR_OUT_OF_PLACE;
}

/* --- what is left to MPI --- */

/* Does the MPI library look at arguments?  It may be told not to.  A broadcast of nothing from a
 * rank that does not exist tells. */
static bool
are_arguments_checked(void)
{
    static atomic_int known; /* 0: not yet; else one more than the answer */
    int answer = atomic_load_explicit(&known, memory_order_relaxed);
    const MPI_Comm self = answer == 0 ? ar_comm_self() : MPI_COMM_NULL;
    if (self != MPI_COMM_NULL) {
        answer = 1 + (PMPI_Bcast(NULL, 0, MPI_BYTE, 1, self) != MPI_SUCCESS);
        atomic_store_explicit(&known, answer, memory_order_relaxed);
    }
    return answer != 1;
}

/* Does the MPI library take the same buffer as IN and OUT?  That is wrong, but Open MPI takes a
 * single element, and perhaps on some ranks only. */
static bool
takes_one_buffer(const struct ar_call *call)
{
#ifdef AR_MPI_IS_OPENMPI
    if (call->count == 1)
        return true;
#endif
    (void)call;
    return !are_arguments_checked();
}

/* Arguments that the MPI library may refuse are left to it, so that the error's class, message and
 * handler are the native ones.  Without elements any address is legal, and the ranks' addresses may
 * differ, so this rank must do what the others do. */
static bool
is_suspicious(const struct ar_call *call)
{
    const void *in_place = MPI_IN_PLACE;
    int size = 1;
    if (call->comm == MPI_COMM_NULL || call->count < 0)
        return true;
    if (call->count == 0)
        return false;
    if (call->type == MPI_DATATYPE_NULL || call->op == MPI_OP_NULL)
        return true;
    if (call->out != in_place && call->in != call->out)
        return false;
    PMPI_Type_size(call->type, &size);
    return size > 0 && (call->out == in_place || !takes_one_buffer(call));
}

/* Likewise a null buffer, and a type that was not committed. */
static bool
is_still_suspicious(const struct ar_call *call, const struct ar_reduction *r)
{
    MPI_Comm self;
    int end = 0;
    char none;
    /* MPI_BOTTOM, where it is the null pointer, comes with a type that holds the address. */
    if (r->size > 0 && r->true_lb == 0 && (!call->in || !call->out))
        return true;
    if (r->basic)
        return false;
    /* PMPI_Pack looks at the type even where there is nothing to pack. */
    self = ar_comm_self();
    return self != MPI_COMM_NULL &&
           PMPI_Pack(&none, 0, call->type, &none, 1, &end, self) != MPI_SUCCESS;
}

/* NULL, or why the call is left to MPI. */
static const char *
find_kernel(struct ar_reduction *r, const struct ar_call *call)
{
    if (!ar_reduction_resolve(r, call->op, call->type))
        return "op or type not supported";
    return is_still_suspicious(call, r) ? "unusual arguments" : NULL;
}

static int
leave_to_mpi(const struct ar_call *call, const char *reason)
{
    const int error = call->native(call);
    if (error)
        return error;
    ar_process_begin();
    ar_statistics_count(AR_ENTRY_ALLREDUCE, reason, MPI_COMM_NULL, MPI_DATATYPE_NULL, MPI_OP_NULL,
                        0, &call->caller);
    return MPI_SUCCESS;
}

static int
record_native(struct ar_communicator *c, const struct ar_call *call)
{
    uint64_t bytes;
    if (!c->records.recorder)
        return call->native(call);
    ar_record_begin(c->records.recorder, NULL); /* MPI has not yet had a look at the handles */
    const int error = call->native(call);
    if (error)
        return error;
    struct ar_record_key key = ar_record_native_key(c->nranks, call->type, call->op, place_of(call),
                                                    (uint64_t)call->count, &bytes);
    key.label = c->agreement.native_label;
    struct ar_record *const record = ar_recorder_find(c->records.recorder, &key);
    if (record)
        ar_record_end(c->records.recorder, record, &call->caller, bytes);
    return MPI_SUCCESS;
}

/* Ends the call with an error that this rank alone may have.  MPI has raised those of its calls on
 * the program's communicator; an error of ours, or of our own messages, which ends every call on c,
 * is raised here.  If this rank's memory ran out, ends the job, since the other ranks wait for it.
 * c: NULL where there is no state. */
static int
refuse(const struct ar_call *call, const struct ar_communicator *c, int error)
{
    char what[64];
    snprintf(what, sizeof what, "an allreduce of %lld elements", (long long)call->count);
    if (error == MPI_ERR_NO_MEM)
        ar_job_end_without_memory(call->comm, what);
    if (error == MPI_ERR_INTERN || (c && error == c->failure))
        PMPI_Comm_call_errhandler(call->comm, error);
    return error;
}

/* --- a decision --- */

/* The record to which a call belongs may be known only after it has run. */
static inline int
record(struct ar_communicator *c, struct ar_decision *d, const struct ar_reduction *r,
       const struct ar_call *call)
{
    const bool is_native = d->runner == AR_RUN_NATIVE;
    const void *const in = place_of(call) == AR_IN_PLACE ? call->out : call->in;
    const size_t count = (size_t)call->count;
    struct ar_record *of =
        c->records.recorder ? ar_decision_record(c, d, call->told, r, count, place_of(call)) : NULL;
    if (of)
        ar_record_begin(c->records.recorder, of);
    c->choice.ran = d;
    c->choice.told = call->told;
    const int error = is_native ? call->native(call)
                                : ar_communicator_run(c, call->comm, d, r, in, call->out, count);
    if (!is_native && c->memory.in_place)
        c->choice.told = ar_decision_missed(c, d, call->told);
    if (error && !is_native)
        refuse(call, c, error);
    if (of && c->choice.told != call->told)
        of = ar_decision_record(c, d, c->choice.told, r, count, place_of(call));
    if (of)
        ar_record_end(c->records.recorder, of, &call->caller, (uint64_t)count * r->size);
    return error;
}

/* A call that may be verified or tuned. */
static int
verify_or_time(struct ar_communicator *c, struct ar_decision *d, const struct ar_reduction *r,
               const struct ar_call *call)
{
    if (c->records.verifies && d->runner != AR_RUN_NATIVE) {
        struct ar_verification v;
        const struct ar_choice choice = d->choice;
        ar_verify_begin(&v, r, call);
        const int error = record(c, d, r, call);
        const int last = ar_verify_end(&v, c, &choice, r, call, error);
        return error == last ? error : refuse(call, c, last);
    }
    struct ar_tuned *const tuned = d->tuned;
    if (!tuned || !ar_tuned_counts(tuned))
        return record(c, d, r, call);
    const uint64_t start = ar_clock_system_ns();
    const int error = record(c, d, r, call);
    const uint64_t ns = ar_clock_system_ns() - start;
    ar_recent_forget(&c->choice.recents, NULL); /* the tuner may decide otherwise now */
    const int noted = error ? MPI_SUCCESS : ar_tuner_note(c, call->comm, tuned, (int64_t)ns);
    return noted ? refuse(call, c, noted) : error;
}

static inline int
watch(struct ar_communicator *c, struct ar_decision *d, const struct ar_reduction *r,
      const struct ar_call *call)
{
    return c->config->is_watched || d->tuned ? verify_or_time(c, d, r, call)
                                             : record(c, d, r, call);
}

/* --- device memory --- */

static int
stage(struct ar_communicator *c, struct ar_decision *d, const struct ar_reduction *r,
      const struct ar_call *call, struct ar_owners owners)
{
    struct ar_staging s;
    const int begun = ar_staging_begin(&s, call, r, owners);
    s.call.told = "device memory, staged";
    const int error = begun ? begun : watch(c, d, r, &s.call);
    ar_staging_end(&s, call, r, error);
    return begun ? refuse(call, c, begun) : error;
}

/* Asks this rank's device runtimes what the buffers are and, when that is due, the other ranks as
 * well.  d: what ran for a recent call like this one; NULL: to be decided. */
static int
ask(struct ar_communicator *c, struct ar_decision *d, const struct ar_reduction *r,
    const struct ar_call *call)
{
    struct ar_owners owners = {NULL, NULL};
    bool for_devices = false;
    int error = MPI_SUCCESS;
    if (r->size > 0) {
        owners = ar_owners_of(call, r);
        error = ar_devices_agree(c, call->comm, r, (size_t)call->count, owners.in || owners.out,
                                 &for_devices);
    }
    if (error)
        return refuse(call, c, error);
    if (!d || d->key.for_devices != for_devices)
        d = ar_communicator_decide(c, call->comm, r, (size_t)call->count, place_of(call),
                                   for_devices, &error);
    if (!d)
        return refuse(call, c, error);
    const bool is_host = !owners.in && !owners.out;
    return is_host || d->runner == AR_RUN_NATIVE ? watch(c, d, r, call)
                                                 : stage(c, d, r, call, owners);
}

/* A call like a recent one, before which there is something to ask. */
static __attribute__((noinline)) int
ask_again(struct ar_communicator *c, const struct ar_recent *recent, const struct ar_call *call)
{
    const struct ar_reduction r = recent->reduction;
    const int error =
        c->devices.calls_to_review <= 0 ? ar_devices_review(c, call->comm) : MPI_SUCCESS;
    /* A review may have made all ranks decide anew. */
    return error ? refuse(call, c, error) : ask(c, recent->decision, &r, call);
}

/* --- a call in its turn --- */

/* The first call goes native, or the ranks meet before it. */
static int
resolve(struct ar_communicator *c, const struct ar_call *call)
{
    struct ar_reduction r;
    int error = MPI_SUCCESS;
    const char *const why = find_kernel(&r, call);
    if (why)
        return leave_to_mpi(call, why);
    r.comm = call->comm;
    /* Calls without any bytes are not counted: ranks may differ in what they pass to these. */
    if (r.size > 0 && c->agreement.waits) {
        const size_t count = (size_t)call->count;
        struct ar_decision *const first = ar_decision_wait(c, call->comm, &r, count, &error);
        if (first)
            return record(c, first, &r, call);
        error = error ? error : ar_communicator_meet(c, call->comm, &r, count);
    }
    if (!error && r.size > 0 && --c->devices.calls_to_review <= 0)
        error = ar_devices_review(c, call->comm);
    return error ? refuse(call, c, error) : ask(c, NULL, &r, call);
}

/* Are the buffers known to be host memory?  MPI_IN_PLACE is none. */
static inline bool
passes(const struct ar_call *call)
{
    return ar_device_passes(place_of(call) == AR_IN_PLACE ? call->out : call->in, call->out);
}

/* A call that may be verified: the ranks' arguments are compared before ranks with different ones
 * would do different things.  Then every call goes native, or as a recent one did, or is decided.
 */
static inline int
choose(struct ar_communicator *c, const struct ar_call *call)
{
    if (!c->agreement.always_native && c->config->is_watched) {
        bool are_alike;
        const int error = ar_verify_call(c, call, &are_alike);
        if (error || !are_alike)
            return error ? refuse(call, c, error) : leave_to_mpi(call, "ranks differ");
    }
    if (call->count == 0)
        return leave_to_mpi(call, "nothing to reduce");
    if (c->agreement.always_native)
        return record_native(c, call);
    const struct ar_recent *const recent =
        ar_recent_find(&c->choice.recents, call->op, call->type, (size_t)call->count);
    if (!recent || !call->in || !call->out)
        return resolve(c, call);
    if (--c->devices.calls_to_review > 0 && passes(call))
        return watch(c, recent->decision, &recent->reduction, call);
    return ask_again(c, recent, call);
}

/* --- a call --- */

/* What the call was, for its timeline; its bytes are returned. */
static uint64_t
describe(const struct ar_communicator *c, const struct ar_call *call, struct ar_trace_kind *kind)
{
    int size = 0;
    const char *const reason = c->choice.ran      ? ar_decisions_reason(&c->choice)
                               : call->count == 0 ? "nothing to reduce"
                                                  : c->agreement.always_native;
    memset(kind, 0, sizeof *kind);
    snprintf(kind->ran, sizeof kind->ran, "native");
    if (c->choice.ran)
        ar_decision_print(c->choice.ran, c->choice.told, kind->ran);
    snprintf(kind->reason, sizeof kind->reason, "%s", reason ? reason : "not ours");
    if (call->count == 0)
        return 0;
    ar_record_names(kind->type, kind->op, ar_record_type(call->type), ar_record_op(call->op));
    PMPI_Type_size(call->type, &size);
    return (uint64_t)call->count * (uint64_t)size;
}

static __attribute__((noinline)) int
trace(struct ar_communicator *c, const struct ar_call *call)
{
    struct ar_trace_kind kind;
    c->choice.ran = NULL;
    c->records.events = ar_timeline_arrive(c->records.timeline);
    const int error = choose(c, call);
    const uint64_t left_ns = ar_clock_system_ns();
    if (c->records.events && error)
        ar_timeline_drop(c->records.timeline);
    else if (c->records.events)
        ar_timeline_leave(c->records.timeline, &kind, describe(c, call, &kind), left_ns);
    c->records.events = NULL;
    return error;
}

static int
admit(const struct ar_call *call)
{
    int error;
    bool is_raised, is_new;
    if (is_suspicious(call))
        return leave_to_mpi(call, "unusual arguments");
    if (call->in == call->out && call->count > 0) {
        struct ar_call in_place = *call;
        in_place.in = MPI_IN_PLACE;
        return admit(&in_place);
    }
    ar_process_begin();
    struct ar_communicator *c = ar_communicator_look_up(call->comm, &error, &is_raised, &is_new);
    if (is_new) {
        struct ar_reduction r;
        const bool has_kernel = call->count > 0;
        /* What is wrong on this rank alone: it gets its error, and none waits for it. */
        const char *const why = has_kernel ? find_kernel(&r, call) : NULL;
        if (why)
            return leave_to_mpi(call, why);
        c = ar_communicator_create(call->comm, has_kernel ? &r : NULL, (size_t)call->count, &error);
    }
    if (!c && error)
        return is_raised ? error : refuse(call, c, error);
    if (!c)
        return call->native(call);
    return c->records.timeline ? trace(c, call) : choose(c, call);
}

static int
admit_until_end(void *with)
{
    const struct ar_call *const call = with;
    ar_deadline_begin(call->count, call->type);
    const int error = admit(call);
    ar_deadline_end(ar_communicator_is_ending(call->comm) ? MPI_COMM_NULL : call->comm, error);
    return error;
}

static void
leave(void *with)
{
    (void)with;
    ar_deadline_leave();
}

/* ALLREDUCE_TIMEOUT bounds a call with its set-up.  Not inline, so that calls without it are as
 * short as they can be. */
static __attribute__((noinline)) int
bound(const struct ar_call *call)
{
    struct ar_call copy = *call;
    ar_process_begin(); /* knows whether calls are watched */
    return ar_call_until(admit_until_end, &copy, leave);
}

int
ar_allreduce(const struct ar_call *call)
{
    return ar_deadline_watches() ? bound(call) : admit(call);
}
