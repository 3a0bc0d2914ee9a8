#include "communicator/wish.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "communicator/process.h"
#include "communicator/state.h"
#include "report/report.h"

#define INFO_KEY "allreduce_algo"

/* --- clauses hang on a communicator, and go over to its copies --- */

static int
copy_clauses(MPI_Comm comm, int keyval, void *extra, void *from, void *to, int *flag)
{
    char **copy = to;
    (void)comm;
    (void)keyval;
    (void)extra;
    *copy = strdup(from);
    *flag = *copy != NULL;
    return *copy ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static int
free_clauses(MPI_Comm comm, int keyval, void *clauses, void *extra)
{
    (void)comm;
    (void)keyval;
    (void)extra;
    free(clauses);
    return MPI_SUCCESS;
}

/* MPI_KEYVAL_INVALID as long as no program wished for anything. */
static atomic_int keyval = MPI_KEYVAL_INVALID;

static void
create_keyval(void)
{
    int created;
    if (PMPI_Comm_create_keyval(copy_clauses, free_clauses, &created, NULL) == MPI_SUCCESS)
        atomic_store(&keyval, created);
}

const char *
ar_wish_get(MPI_Comm comm)
{
    const int key = atomic_load_explicit(&keyval, memory_order_relaxed);
    char *clauses = NULL;
    int found = 0;
    if (key == MPI_KEYVAL_INVALID || PMPI_Comm_get_attr(comm, key, &clauses, &found) != MPI_SUCCESS)
        return NULL;
    return found ? clauses : NULL;
}

static int
keep(MPI_Comm comm, const struct ar_config *config)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    char *clauses = config->program_rules ? ar_rules_text(config->program_rules) : strdup("");
    if (!clauses)
        return MPI_ERR_NO_MEM;
    pthread_once(&once, create_keyval);
    const int error = PMPI_Comm_set_attr(comm, atomic_load(&keyval), clauses);
    if (error)
        free(clauses);
    return error;
}

/* --- wishing --- */

/* A configuration without its error, alike on all ranks. */
static int
agree(struct ar_communicator *c, MPI_Comm comm, struct ar_config **config)
{
    int error = ar_agree_on(c, comm, config);
    if (!error && (*config)->error) {
        if (c->rank == 0)
            ar_say("%s", (*config)->problem);
        error = MPI_ERR_ARG;
    }
    return error;
}

int
ar_wish_set(MPI_Comm comm, const char *clauses)
{
    int error;
    bool is_raised;
    struct ar_communicator *c = ar_communicator_get(comm, &error, &is_raised);
    if (!c)
        return error ? error : MPI_ERR_COMM;
    if (!c->config) /* of an intercommunicator */
        return MPI_ERR_COMM;
    struct ar_config *config = ar_config_with_program(c->config, clauses);
    if (!config)
        return MPI_ERR_NO_MEM;
    error = agree(c, comm, &config);
    if (!error)
        error = keep(comm, config);
    if (error)
        ar_config_destroy(config);
    else
        ar_communicator_configure(c, config);
    return error;
}

/* Malloced; NULL where the key is not there. */
static char *
value_of(MPI_Info info)
{
    int length = 0, found = 0;
    if (info == MPI_INFO_NULL || PMPI_Info_get_valuelen(info, INFO_KEY, &length, &found) || !found)
        return NULL;
    char *value = malloc((size_t)length + 1);
    if (value)
        PMPI_Info_get(info, INFO_KEY, length, value, &found);
    return value;
}

void
ar_wish_from_info(MPI_Comm comm, MPI_Info info)
{
    char *value = value_of(info);
    int mine = value != NULL, any = 0, inter = 0;
    PMPI_Comm_test_inter(comm, &inter);
    if (!inter && PMPI_Reduce(&mine, &any, 1, MPI_INT, MPI_LOR, 0, comm) == MPI_SUCCESS &&
        PMPI_Bcast(&any, 1, MPI_INT, 0, comm) == MPI_SUCCESS && any)
        ar_wish_set(comm, value ? value : "");
    free(value);
}
