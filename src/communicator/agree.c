#include <config.h>

#include "communicator/agree.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "communicator/devices.h"
#include "communicator/process.h"
#include "device/device.h"
#include "execute/group.h"
#include "execute/shared.h"
#include "execute/xpmem.h"
#include "report/say.h"

/* What ranks must have alike. */
enum { TEXT, VERSION, TERMS };

/* Builds that exchange the same messages in the same order have the same protocol. */
static const char version[] = "liballreduce " PACKAGE_VERSION ", protocol " AR_PROTOCOL;
static const char reason_version[] = "ranks differ in version";

int
ar_complete(struct ar_wait wait, int n, MPI_Request *requests)
{
    int done = 0, error = MPI_SUCCESS;
    unsigned polls = 0;
    if (wait.blocks)
        return PMPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    while (!error && !done) {
        error = PMPI_Testall(n, requests, &done, MPI_STATUSES_IGNORE);
        if (!done)
            ar_wait_for_message(wait, &polls);
    }
    return error;
}

int
ar_broadcast(struct ar_wait wait, MPI_Comm comm, void *data, int bytes)
{
    MPI_Request request;
    const int error = PMPI_Ibcast(data, bytes, MPI_BYTE, 0, comm, &request);
    return error ? error : ar_complete(wait, 1, &request);
}

int
ar_broadcast_text(const struct ar_communicator *c, MPI_Comm comm, char **text)
{
    int length = *text ? (int)strlen(*text) + 1 : 0; /* rank 0's counts */
    const int error = ar_broadcast(c->wait, comm, &length, (int)sizeof length);
    if (error || length == 0)
        return error;
    if (!*text)
        *text = malloc((size_t)length);
    return *text ? ar_broadcast(c->wait, comm, *text, length) : MPI_ERR_NO_MEM;
}

/* differ gets, for each term, the first rank that differs from rank 0, or -1.  The lowest bit of
 * the version tells whether the rank has a runtime.  That keeps the terms as long as in the first
 * version, so that ranks of different versions still find out that they differ.  Collective over
 * comm. */
static int
compare(struct ar_communicator *c, MPI_Comm comm, const char *text, int differ[TERMS])
{
    const uint64_t mine[TERMS] = {
        [TEXT] = ar_hash(text),
        [VERSION] = (ar_hash(version) & ~UINT64_C(1)) | ar_devices_are_loaded(),
    };
    uint64_t(*all)[TERMS] = malloc((size_t)c->nranks * sizeof *all);
    if (!all)
        return MPI_ERR_NO_MEM;
    int error =
        PMPI_Allgather(mine, (int)sizeof mine, MPI_BYTE, all, (int)sizeof mine, MPI_BYTE, comm);
    bool any = false;
    differ[TEXT] = differ[VERSION] = -1;
    for (int i = c->nranks - 1; i >= 0 && !error; i--) {
        differ[TEXT] = all[i][TEXT] != all[0][TEXT] ? i : differ[TEXT];
        differ[VERSION] = (all[i][VERSION] ^ all[0][VERSION]) > 1 ? i : differ[VERSION];
        any |= all[i][VERSION] & 1;
    }
    free(all);
    if (any && differ[VERSION] < 0)
        ar_devices_expect(c);
    return error;
}

/* The rank that differs knows both settings.  If rank 0's are broken, only rank 0 speaks. */
static void
tell_difference(const struct ar_config *mine, const struct ar_config *theirs, int differs,
                const char *settings)
{
    char text[AR_CONFIG_PROBLEM], me[32];
    struct ar_text told;
    if (theirs->broken)
        return;
    snprintf(me, sizeof me, "rank %d", differs);
    ar_text_init(&told, text, sizeof text);
    ar_config_tell_difference(&told, theirs, "rank 0", mine, me);
    ar_say("ranks 0 and %d of a communicator differ in %s: those of rank 0 apply to all ranks; %s",
           differs, settings, text);
}

/* Makes *theirs from rank 0's configuration, except for what each rank sets for itself, which is as
 * in mine.  Rank differs says what it has instead.  Collective over comm. */
static int
adopt(const struct ar_communicator *c, MPI_Comm comm, const struct ar_config *mine,
      struct ar_config **theirs, int differs, const char *settings)
{
    char *text = c->rank == 0 ? strdup(mine->text) : NULL;
    const int error = ar_broadcast_text(c, comm, &text);
    struct ar_config *const config = !error && text ? ar_config_from_text(text) : NULL;
    free(text);
    if (!config)
        return error ? error : MPI_ERR_NO_MEM;
    ar_config_take_own(config, mine);
    *theirs = config;
    if (c->rank == differs)
        tell_difference(mine, config, differs, settings);
    return MPI_SUCCESS;
}

/* On rank 0. */
static void
find_known(struct ar_beginning *beginning, struct ar_communicator *c, MPI_Comm comm,
           const struct ar_reduction *r, size_t count)
{
    const struct ar_circle all = ar_circle_of(comm, c->rank, c->nranks);
    struct ar_members *const members = ar_members_of(&all);
    beginning->known = ar_xpmem_is_impossible() ? AR_LACKS_XPMEM : 0;
    if (ar_group_is_alike(members)) {
        beginning->known |= AR_ALIKE | (ar_devices_are_expected() ? AR_ALIKE_WITH_DEVICES : 0);
        ar_engine_offer(&beginning->offer, c, comm, members, r, count);
    }
    free(members);
}

int
ar_agree_to_begin(struct ar_beginning *beginning, struct ar_communicator *c, MPI_Comm comm,
                  const struct ar_reduction *r, size_t count)
{
    memset(beginning, 0, sizeof *beginning);
    if (c->nranks == 1)
        return MPI_SUCCESS;
    if (c->rank == 0)
        find_known(beginning, c, comm, r, count);
    /* Rules are longer than all else, and only ranks of several nodes have some. */
    struct ar_engine_offer *const offer = &beginning->offer;
    const int error = PMPI_Bcast(beginning, AR_BEGINNING_BYTES, MPI_BYTE, 0, comm);
    return error || !offer->has_rules
               ? error
               : PMPI_Bcast(offer->rules, (int)sizeof offer->rules, MPI_CHAR, 0, comm);
}

/* Collective over comm where rank 0 does not know that the ranks agree. */
static int
find_differences(struct ar_communicator *c, MPI_Comm comm, const char *text, unsigned char known,
                 int differ[TERMS])
{
    differ[TEXT] = differ[VERSION] = -1;
    if (known & AR_ALIKE_WITH_DEVICES)
        ar_devices_expect(c);
    if (known & AR_ALIKE)
        return MPI_SUCCESS;
    const int error = compare(c, comm, text, differ);
    if (error || differ[TEXT] >= 0 || differ[VERSION] >= 0)
        return error;
    const struct ar_circle all = ar_circle_of(comm, c->rank, c->nranks);
    ar_group_note_alike(ar_members_of(&all));
    return MPI_SUCCESS;
}

int
ar_agree_at_start(struct ar_communicator *c, MPI_Comm comm, struct ar_config *mine,
                  unsigned char known)
{
    static atomic_flag warned = ATOMIC_FLAG_INIT;
    int differ[TERMS] = {-1, -1};
    int error = MPI_SUCCESS;
    c->config = mine;
    if (c->nranks > 1)
        error = find_differences(c, comm, mine->text, known, differ);
    else if (ar_devices_are_expected())
        ar_devices_expect(c);
    if (!error && differ[VERSION] >= 0) {
        /* Nothing more is exchanged on such a communicator, not even the settings. */
        c->agreement.verdict = reason_version;
        c->agreement.has_versions = true;
        if (c->rank == 0)
            ar_say("ranks 0 and %d of a communicator have different versions of this library (rank "
                   "0: %s): all calls on it run native",
                   differ[VERSION], version);
        return MPI_SUCCESS;
    }
    if (!error && differ[TEXT] >= 0)
        error = adopt(c, comm, mine, &c->agreement.own_config, differ[TEXT],
                      "their ALLREDUCE_ settings");
    if (error)
        return error;
    if (c->agreement.own_config)
        c->config = c->agreement.own_config;
    if (c->config->error) { /* rank 0 speaks for all and ends the job */
        if (c->rank == 0)
            ar_say("%s", c->config->problem);
        ar_job_end(comm, c->rank == 0);
    }
    /* Under ALLREDUCE_STRICT=0 it is said once, not for every communicator. */
    if (c->config->broken && c->rank == 0 && !atomic_flag_test_and_set(&warned))
        ar_say("warning: %s. Every call runs native", c->config->problem);
    return MPI_SUCCESS;
}

int
ar_agree_on(struct ar_communicator *c, MPI_Comm comm, struct ar_config **config)
{
    int differ[TERMS];
    struct ar_config *theirs = NULL;
    if (c->agreement.verdict)
        return MPI_SUCCESS;
    int error = compare(c, comm, (*config)->text, differ);
    if (error || differ[TEXT] < 0)
        return error;
    error = adopt(c, comm, *config, &theirs, differ[TEXT], "what the program chooses");
    if (error)
        return error;
    ar_config_destroy(*config);
    *config = theirs;
    return MPI_SUCCESS;
}
