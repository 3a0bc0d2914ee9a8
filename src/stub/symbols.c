/* The library that is preloaded: the symbols that it puts in front of the MPI library's.
 *
 * It needs no MPI, since shells, launchers and interpreters have it preloaded, too.  It does
 * nothing before its first call, which finds the MPI library of the process and loads the engine
 * for it.  From then on a call is one jump through a table.  The engine knows which of these
 * symbols its MPI library needs: where the engine has no function, the table leads to the library's
 * own.
 */
#include <config.h>

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "stub/library.h"
#include "stub/load.h"

/* --- the table --- */

#define DECLARE(result, symbol, field, parameters, arguments)                                      \
    static result first_##field parameters;                                                        \
    AR_EXPORT result symbol parameters;
AR_ENTRIES(DECLARE)

/* Where calls go.  Entries are changed once, by release; pairs with the acquire of each call. */
static struct ar_entries entries = {
#define FIRST(result, symbol, field, parameters, arguments) .field = first_##field,
    AR_ENTRIES(FIRST)};

static struct ar_entries next;
static const struct ar_mpi_engine *engine; /* NULL: none yet, or there is none */

/* What the dynamic linker does where a program calls what its library has not. */
static void __attribute__((noreturn)) fail(const char *symbol)
{
    dprintf(STDERR_FILENO, "liballreduce: the MPI library of this process has no symbol %s\n",
            symbol);
    _exit(127);
}

/* Entries for which the MPI library has no function stay as they are: calls to them fail. */
static void
fill(void)
{
#define FILL(result, symbol, field, parameters, arguments)                                         \
    next.field                                                                                     \
        ? __atomic_store_n(&entries.field,                                                         \
                           engine && engine->entries.field ? engine->entries.field : next.field,   \
                           __ATOMIC_RELEASE)                                                       \
        : (void)0;
    AR_ENTRIES(FILL)
}

static bool is_loaded; /* an engine, or it was told why there is none */

/* Looks for an MPI library in each call until there is one: it may be loaded later. */
static const struct ar_mpi_engine *
load(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const int error = errno;
    pthread_mutex_lock(&lock);
    if (!is_loaded && ar_engine_load(&engine, &next)) {
        if (engine)
            engine->begin(&next);
        fill();
        is_loaded = true;
    }
    pthread_mutex_unlock(&lock);
    errno = error;
    return engine;
}

/* --- calls --- */

/* In builds without optimization, too, the engine sees the address to which the program's call
 * returns. */
#ifdef __clang__
#define JUMPS
#define JUMP __attribute__((musttail)) return
#elif defined __OPTIMIZE__
#define JUMPS
#define JUMP return
#else
#define JUMPS __attribute__((optimize("O2")))
#define JUMP  return
#endif

/* A serial stand-in for MPI, which some solvers bring along, has few of MPI's symbols and is not
 * taken for an MPI library.  Its functions are called as if we were not there. */
#define DEFINE(result, symbol, field, parameters, arguments)                                       \
    static JUMPS result first_##field parameters                                                   \
    {                                                                                              \
        load();                                                                                    \
        result(*function) parameters = __atomic_load_n(&entries.field, __ATOMIC_ACQUIRE);          \
        if (function == first_##field) {                                                           \
            void *const other = ar_library_symbol(#symbol);                                        \
            if (!other)                                                                            \
                fail(#symbol);                                                                     \
            memcpy(&function, &other, sizeof other);                                               \
        }                                                                                          \
        JUMP function arguments;                                                                   \
    }                                                                                              \
    JUMPS AR_EXPORT result symbol parameters                                                       \
    {                                                                                              \
        JUMP __atomic_load_n(&entries.field, __ATOMIC_ACQUIRE) arguments;                          \
    }
AR_ENTRIES(DEFINE)

/* --- the end --- */

/* Runs after all that the program itself does at its exit, which may be MPI_Finalize: atexit would
 * be too early.  It is not in the engine, which was loaded after MPI and is finished after it. */
__attribute__((destructor)) static void
at_exit(void)
{
    if (engine ? !engine->end() : !is_loaded)
        ar_library_tell_no_call("MPI_Allreduce");
}

/* --- allreduce.h --- */

AR_EXPORT const char *allreduce_version(void);
AR_EXPORT const char *allreduce_algorithm_name(unsigned i);
AR_EXPORT int allreduce_choose(MPI_Comm comm, const char *clauses);
AR_EXPORT const char *allreduce_last(MPI_Comm comm, const char **reason);

/* MPI_ERR_OTHER of Open MPI and of MPI 5's ABI, MPI_ERR_INTERN of MPICH: an error in all. */
#define NO_ENGINE 16

const char *
allreduce_version(void)
{
    return load() ? engine->version : PACKAGE_VERSION " (no engine)";
}

const char *
allreduce_algorithm_name(unsigned i)
{
    return load() ? engine->algorithm_name(i) : NULL;
}

int
allreduce_choose(MPI_Comm comm, const char *clauses)
{
    return load() ? engine->choose(comm, clauses) : NO_ENGINE;
}

const char *
allreduce_last(MPI_Comm comm, const char **reason)
{
    return load() ? engine->last(comm, reason) : NULL;
}
