#include "communicator/program_clauses.h"

#include <stdlib.h>
#include <string.h>

#include "communicator/agree.h"
#include "communicator/process.h"
#include "execute/key.h"
#include "report/say.h"

/* --- clauses are an attribute of a communicator, which its copies inherit --- */

static MPI_Comm_copy_attr_function copy_clauses;
static MPI_Comm_delete_attr_function free_clauses;
static struct ar_key key = {copy_clauses, free_clauses, 0};

static int
copy_clauses(MPI_Comm comm, int keyval, void *extra, void *from, void *to, int *flag)
{
    char **copy = to;
    (void)comm;
    (void)keyval;
    (void)extra;
    *copy = strdup(from);
    *flag = *copy != NULL;
    if (!*copy)
        return MPI_ERR_NO_MEM;
    ar_key_join(&key);
    return MPI_SUCCESS;
}

static int
free_clauses(MPI_Comm comm, int keyval, void *clauses, void *extra)
{
    (void)comm;
    (void)keyval;
    (void)extra;
    free(clauses);
    ar_key_leave(&key);
    return MPI_SUCCESS;
}

const char *
ar_program_clauses_get(MPI_Comm comm)
{
    char *clauses = NULL;
    int found = 0;
    if (ar_key_get(&key, comm, &clauses, &found) != MPI_SUCCESS)
        return NULL;
    return found ? clauses : NULL;
}

static int
keep(MPI_Comm comm, const struct ar_config *config)
{
    const struct ar_rules *const rules = config->rules[AR_SOURCE_PROGRAM];
    char *clauses = rules ? ar_rules_text(rules) : strdup("");
    if (!clauses)
        return MPI_ERR_NO_MEM;
    const int error = ar_key_set(&key, comm, clauses);
    if (error)
        free(clauses);
    return error;
}

/* --- choosing --- */

/* As ar_program_clauses_set, but for MPI_ERR_NO_MEM on this rank alone. */
static int
set(struct ar_communicator *c, MPI_Comm comm, const char *clauses)
{
    struct ar_config *config = ar_config_with_program(c->config, clauses);
    int error = config ? ar_agree_on(c, comm, &config) : MPI_ERR_NO_MEM;
    if (!error && config->error) { /* alike on all ranks */
        if (c->rank == 0)
            ar_say("%s", config->problem);
        error = MPI_ERR_ARG;
    }
    if (!error)
        error = keep(comm, config);
    if (error)
        ar_config_destroy(config);
    else
        ar_communicator_configure(c, config);
    return error;
}

int
ar_program_clauses_set(MPI_Comm comm, const char *clauses)
{
    int error;
    bool is_raised, is_new;
    struct ar_communicator *c = ar_communicator_look_up(comm, &error, &is_raised, &is_new);
    if (is_new)
        c = ar_communicator_create(comm, NULL, 0, &error);
    if (!c && error != MPI_ERR_NO_MEM)
        return error ? error : MPI_ERR_COMM;
    if (c && !c->config) { /* always native: an intercommunicator, or in a fault-tolerant job */
        int inter = 0;
        PMPI_Comm_test_inter(comm, &inter);
        return inter ? MPI_ERR_COMM : MPI_SUCCESS;
    }
    if (c)
        error = set(c, comm, clauses);
    if (error == MPI_ERR_NO_MEM)
        ar_job_end_without_memory(comm, "the algorithms that the program chooses");
    return error;
}
