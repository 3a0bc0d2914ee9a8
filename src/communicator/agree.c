/* Ranks with different environments must not choose differently: that would be
 * a deadlock.  So the ranks of a communicator compare their configuration once,
 * and where they differ rank 0's counts. */
#include <config.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "communicator/process.h"
#include "communicator/state.h"
#include "execute/group.h"
#include "execute/shared.h"
#include "report/report.h"

/* What ranks must have alike, as hashes. */
struct print {
    uint64_t text, version;
};

/* Two builds that exchange the same messages in the same order have the same number here. */
static const char version[] = "liballreduce " PACKAGE_VERSION ", protocol " AR_PROTOCOL;
static const char reason_version[] = "ranks differ in version";

/* The first ranks that differ from rank 0, or -1. */
struct differences {
    int text, version;
};

static int
compare(const struct ar_communicator *c, MPI_Comm comm, const char *text,
        struct differences *differ)
{
    const struct print mine = {ar_hash(text), ar_hash(version)};
    struct print *all = malloc((size_t)c->nranks * sizeof *all);
    if (!all)
        return MPI_ERR_NO_MEM;
    int error =
        PMPI_Allgather(&mine, (int)sizeof mine, MPI_BYTE, all, (int)sizeof mine, MPI_BYTE, comm);
    *differ = (struct differences){-1, -1};
    for (int i = c->nranks - 1; i > 0 && !error; i--) {
        differ->text = all[i].text != all[0].text ? i : differ->text;
        differ->version = all[i].version != all[0].version ? i : differ->version;
    }
    free(all);
    return error;
}

static int
broadcast_text(const struct ar_communicator *c, MPI_Comm comm, const char *mine, char **text)
{
    int length = (int)strlen(mine) + 1;
    int error = PMPI_Bcast(&length, 1, MPI_INT, 0, comm);
    if (error)
        return error;
    *text = malloc((size_t)length);
    if (!*text)
        return MPI_ERR_NO_MEM;
    if (c->rank == 0)
        memcpy(*text, mine, (size_t)length);
    return PMPI_Bcast(*text, length, MPI_BYTE, 0, comm);
}

/* Rank 0 speaks for all and ends the job. */
static void
refuse(const struct ar_communicator *c, MPI_Comm comm, const struct ar_config *config)
{
    if (c->rank == 0)
        ar_say("%s", config->problem);
    ar_process_end_job(comm, c->rank == 0);
}

/* Under ALLREDUCE_STRICT=0: said once, not for every communicator. */
static void
warn(const struct ar_communicator *c, const struct ar_config *config)
{
    static atomic_flag warned = ATOMIC_FLAG_INIT;
    if (c->rank == 0 && !atomic_flag_test_and_set(&warned))
        ar_say("warning: %s: every call goes native", config->problem);
}

static void
say_differs(const struct ar_communicator *c, int differs, const char *in)
{
    if (c->rank == 0)
        ar_say("ranks 0 and %d of a communicator differ in %s: rank 0's count for all", differs,
               in);
}

static int
adopt(struct ar_communicator *c, MPI_Comm comm, const struct ar_config *mine, int differs)
{
    char *text = NULL;
    int error = broadcast_text(c, comm, mine->text, &text);
    if (!error) {
        c->own_config = ar_config_from_text(text);
        error = c->own_config ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    }
    free(text);
    if (error)
        return error;
    c->config = c->own_config;
    c->own_config->wait = mine->wait;
    c->own_config->verbose = mine->verbose;
    say_differs(c, differs, "their ALLREDUCE_ settings");
    return MPI_SUCCESS;
}

/* Groups whose ranks were found to agree.  Communicators within one of them need
 * no comparison, which costs a collective of all with all.  Each rank remembers for
 * itself; what counts is the memory of a communicator's rank 0. */
#define GROUPS_MAX 16

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static MPI_Group groups[GROUPS_MAX];
static int ngroups;

static bool
is_known_to_agree(MPI_Comm comm, int nranks)
{
    bool known = false;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < ngroups && !known; i++)
        known = ar_group_covers(groups[i], comm, nranks);
    pthread_mutex_unlock(&lock);
    return known;
}

static void
remember(MPI_Comm comm, int nranks)
{
    MPI_Group group = ar_group_of(comm, nranks);
    pthread_mutex_lock(&lock);
    if (group != MPI_GROUP_NULL && ngroups < GROUPS_MAX)
        groups[ngroups++] = group;
    else if (group != MPI_GROUP_NULL)
        PMPI_Group_free(&group);
    pthread_mutex_unlock(&lock);
}

void
ar_agree_close(void)
{
    pthread_mutex_lock(&lock);
    while (ngroups > 0)
        PMPI_Group_free(&groups[--ngroups]);
    pthread_mutex_unlock(&lock);
}

static int
ask_around(const struct ar_communicator *c, MPI_Comm comm, const char *text,
           struct differences *differ)
{
    char known = c->rank == 0 && is_known_to_agree(comm, c->nranks);
    int error = PMPI_Bcast(&known, 1, MPI_CHAR, 0, comm);
    *differ = (struct differences){-1, -1};
    if (error || known)
        return error;
    error = compare(c, comm, text, differ);
    if (!error && differ->text < 0 && differ->version < 0)
        remember(comm, c->nranks);
    return error;
}

/* Nothing more is exchanged on such a communicator, not even the settings. */
static void
part(struct ar_communicator *c, int differs)
{
    c->verdict = reason_version;
    if (c->rank == 0)
        ar_say(
            "ranks 0 and %d of a communicator have different versions of this library (rank 0 %s): "
            "all its calls go native",
            differs, version);
}

int
ar_agree(struct ar_communicator *c, MPI_Comm comm, struct ar_config *mine)
{
    struct differences differ = {-1, -1};
    int error = MPI_SUCCESS;
    c->config = mine;
    if (c->nranks > 1)
        error = ask_around(c, comm, mine->text, &differ);
    if (!error && differ.version >= 0) {
        part(c, differ.version);
        return MPI_SUCCESS;
    }
    if (!error && differ.text >= 0)
        error = adopt(c, comm, mine, differ.text);
    if (!error && c->config->error)
        refuse(c, comm, c->config);
    if (!error && c->config->broken)
        warn(c, c->config);
    return error;
}

int
ar_agree_on(struct ar_communicator *c, MPI_Comm comm, struct ar_config **config)
{
    struct differences differ;
    char *text = NULL;
    if (c->verdict)
        return MPI_SUCCESS;
    int error = compare(c, comm, (*config)->text, &differ);
    if (error || differ.text < 0)
        return error;
    error = broadcast_text(c, comm, (*config)->text, &text);
    struct ar_config *theirs = error ? NULL : ar_config_from_text(text);
    free(text);
    if (!theirs)
        return error ? error : MPI_ERR_NO_MEM;
    theirs->wait = (*config)->wait;
    theirs->verbose = (*config)->verbose;
    ar_config_destroy(*config);
    *config = theirs;
    say_differs(c, differ.text, "what the program chooses");
    return MPI_SUCCESS;
}
