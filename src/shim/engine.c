/* The engine for one MPI library: the table by which the stub reaches it. */
#include <stdio.h>

#include "algorithms/registry.h"
#include "communicator/decide.h"
#include "communicator/process.h"
#include "communicator/program_clauses.h"
#include "shim/next.h"

const struct ar_entries *ar_next;

static void
begin(const struct ar_entries *next)
{
    ar_next = next;
    ar_next_find_objects();
}

/* --- what a program can ask of the library (allreduce.h) --- */

static const char *
algorithm_name(unsigned i)
{
    const struct ar_algorithm *row = ar_algorithm_at(i);
    return row ? row->name : NULL;
}

static int
choose(MPI_Comm comm, const char *clauses)
{
    ar_process_begin();
    return ar_program_clauses_set(comm, clauses ? clauses : "");
}

static const char *
last(MPI_Comm comm, const char **reason)
{
    static __thread char text[AR_CHOICE_TEXT], why_text[AR_REASON_TEXT];
    const struct ar_communicator *c = ar_communicator_find(comm);
    const struct ar_choice native = {.kind = AR_CHOICE_NATIVE};
    const char *why = c ? c->agreement.always_native : NULL;
    if (!c || (!why && !c->choice.ran))
        return NULL;
    if (reason) {
        snprintf(why_text, sizeof why_text, "%s", why ? why : ar_decisions_reason(&c->choice));
        *reason = why_text;
    }
    const struct ar_choice ran = why ? native : ar_decision_choice(c->choice.ran, c->choice.told);
    return ar_choice_print(&ran, text, sizeof text);
}

/* --- the table --- */

AR_EXPORT const struct ar_mpi_engine ar_mpi_engine = {
    .interface = AR_ENGINE_INTERFACE,
    .version = PACKAGE_VERSION " (" AR_MPI_FAMILY ")",
    .begin = begin,
    .end = ar_process_exit,
    .entries =
        {
            .allreduce = ar_shim_allreduce,
            .allreduce_c = ar_shim_allreduce_c,
            .iallreduce = ar_shim_iallreduce,
            .iallreduce_c = ar_shim_iallreduce_c,
            .allreduce_init = ar_shim_allreduce_init,
            .allreduce_init_c = ar_shim_allreduce_init_c,
            .comm_set_name = ar_shim_comm_set_name,
            .library_comm_set_name = ar_shim_library_comm_set_name,
            .comm_set_info = ar_shim_comm_set_info,
            .comm_dup_with_info = ar_shim_comm_dup_with_info,
            .comm_idup = ar_shim_comm_idup,
            .comm_idup_with_info = ar_shim_comm_idup_with_info,
            .intercomm_merge = ar_shim_intercomm_merge,
            .comm_free = ar_shim_comm_free,
            .comm_disconnect = ar_shim_comm_disconnect,
            .finalize = ar_shim_finalize,
            /* Called by tools that are found before us, and by Fortran bindings: by Open MPI's, and
             * those of communicators by MPICH's, too. */
            .library_allreduce = ar_shim_library_allreduce,
            .library_allreduce_c = ar_shim_library_allreduce_c,
            .library_iallreduce = ar_shim_library_iallreduce,
            .library_comm_set_info = ar_shim_library_comm_set_info,
            .library_comm_dup_with_info = ar_shim_library_comm_dup_with_info,
            .library_comm_idup = ar_shim_library_comm_idup,
            .library_comm_idup_with_info = ar_shim_library_comm_idup_with_info,
            .library_intercomm_merge = ar_shim_library_intercomm_merge,
            .library_finalize = ar_shim_library_finalize,
#ifndef AR_MPI_IS_OPENMPI /* MPICH's mpi_f08 calls no C name */
            .finalize_f08 = ar_shim_finalize_f08,
#endif
        },
    .algorithm_name = algorithm_name,
    .choose = choose,
    .last = last,
};
