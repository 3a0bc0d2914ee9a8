/* What a program can ask of the library (allreduce.h). */
#include <stdio.h>

#include "algorithms/registry.h"
#include "communicator/decide.h"
#include "communicator/process.h"
#include "communicator/program_clauses.h"
#include "shim/next.h"

const char *
ar_shim_algorithm_name(unsigned i)
{
    const struct ar_algorithm *row = ar_algorithm_at(i);
    return row ? row->name : NULL;
}

int
ar_shim_choose(MPI_Comm comm, const char *clauses)
{
    ar_process_begin();
    return ar_program_clauses_set(comm, clauses ? clauses : "");
}

const char *
ar_shim_last(MPI_Comm comm, const char **reason)
{
    static __thread char text[AR_CHOICE_TEXT], why_text[AR_REASON_TEXT];
    const struct ar_communicator *c = ar_communicator_find(comm);
    const struct ar_choice native = {.kind = AR_CHOICE_NATIVE};
    const char *why = c ? c->always_native : NULL;
    if (!c || (!why && !c->ran))
        return NULL;
    if (reason) {
        snprintf(why_text, sizeof why_text, "%s", why ? why : c->ran->reason);
        *reason = why_text;
    }
    return ar_choice_print(why ? &native : &c->ran->choice, text, sizeof text);
}
