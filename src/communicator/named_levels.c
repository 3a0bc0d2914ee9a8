#include "communicator/named_levels.h"

#include <stdlib.h>

#include "algorithms/domains.h"
#include "communicator/decide.h"
#include "execute/own_domains.h"

const char ar_reason_no_room[] = "no room for levels: flat";

/* A grouping that a choice has asked for: few, since each stands in a clause. */
struct ar_levels_kept {
    struct ar_levels_kept *next;
    struct ar_levels asked, found;
    bool is_in_nodes;
    struct ar_grouping grouping;
};

/* What the ranks share on their nodes, which each of them tells all others.  Collective over comm;
 * NULL where that fails, of which *error tells. */
static const struct ar_domains *
gather_domains(struct ar_communicator *c, MPI_Comm comm, int *error)
{
    if (c->memory.domain_of)
        return &c->memory.domains;
    const size_t nranks = (size_t)c->nranks;
    int own[AR_DOMAINS];
    int *const all = malloc(nranks * AR_DOMAINS * sizeof *all);
    int *const of = malloc(AR_DOMAINS * nranks * sizeof *of);
    ar_own_domains_find(own);
    *error = !all || !of ? MPI_ERR_NO_MEM
                         : PMPI_Allgather(own, AR_DOMAINS, MPI_INT, all, AR_DOMAINS, MPI_INT, comm);
    if (!*error &&
        ar_domains_of_nodes(&c->memory.domains, of, all, c->messages.carriage.node_of, c->nranks))
        *error = MPI_ERR_NO_MEM;
    free(all);
    if (*error) {
        free(of);
        return NULL;
    }
    c->memory.domain_of = of;
    return &c->memory.domains;
}

/* What the ranks share, from the first memory that they map; NULL where there is none, or without
 * memory, of which *error tells. */
static const struct ar_domains *
find_domains(struct ar_communicator *c, MPI_Comm comm, int *error)
{
    const struct ar_memory *const memory = &c->memory.grades[AR_MEMORY_SHORT];
    if (memory->state != AR_ENGINE_READY)
        return NULL;
    if (c->memory.domain_of)
        return &c->memory.domains;
    int *const of = malloc(AR_DOMAINS * (size_t)c->nranks * sizeof *of);
    if (!of || !ar_piece_domains(&memory->node.piece, of, comm, c->nranks)) {
        free(of);
        *error = MPI_ERR_NO_MEM;
        return NULL;
    }
    c->memory.domain_of = of;
    c->memory.domains.nranks = c->nranks;
    for (int d = 0; d < AR_DOMAINS; d++)
        c->memory.domains.of[d] = of + (size_t)d * (size_t)c->nranks;
    return &c->memory.domains;
}

/* NULL without memory. */
static const struct ar_levels_kept *
find_kept(struct ar_communicator *c, const struct ar_algorithm *row, const struct ar_levels *asked,
          const struct ar_domains *domains)
{
    const bool is_in_nodes = ar_algorithm_has_levels_in_nodes(row);
    struct ar_levels_kept *kept = c->memory.levels;
    while (kept && (kept->is_in_nodes != is_in_nodes || !ar_levels_equal(&kept->asked, asked)))
        kept = kept->next;
    if (kept)
        return kept;
    const struct ar_params params = {
        .levels = *asked, .domains = domains, .node_of = c->messages.carriage.node_of};
    kept = malloc(sizeof *kept);
    if (!kept || ar_algorithm_group(&kept->grouping, &kept->found, row, &params, c->nranks)) {
        free(kept);
        return NULL;
    }
    kept->asked = *asked;
    kept->is_in_nodes = is_in_nodes;
    kept->next = c->memory.levels;
    c->memory.levels = kept;
    return kept;
}

/* Is there a rank that is bound to none of the domains asked for? */
static bool
has_unbound(const struct ar_domains *domains, const struct ar_levels *asked)
{
    for (int r = 0; r < domains->nranks; r++) {
        bool is_bound = false;
        for (int i = asked->sizes; i < asked->n; i++)
            is_bound |= domains->of[asked->value[i]][r] >= 0;
        if (!is_bound)
            return true;
    }
    return false;
}

/* What the choice stands for: FLAT where the bits must stay and it would not keep them. */
static struct ar_levels
asked_of(const struct ar_communicator *c, const struct ar_decision *d)
{
    const struct ar_levels *const own = &d->choice.params.levels;
    const struct ar_levels asked = own->kind == AR_LEVELS_AUTO ? c->config->levels : *own;
    const bool is_free = d->key.keeps == AR_DETERMINISM_NONE;
    if (!is_free && (asked.kind == AR_LEVELS_AUTO || ar_levels_keep(&asked) < d->key.keeps))
        return (struct ar_levels){.kind = AR_LEVELS_FLAT};
    return asked;
}

int
ar_levels_settle(struct ar_communicator *c, MPI_Comm comm, struct ar_decision *d)
{
    struct ar_params *const params = &d->choice.params;
    const struct ar_algorithm *const row = d->choice.algorithm;
    int error = MPI_SUCCESS;
    if (d->choice.kind != AR_CHOICE_ALGORITHM || c->nranks == 1 || !(row->takes & AR_TAKES_LEVELS))
        return MPI_SUCCESS;
    struct ar_levels asked = asked_of(c, d);
    const bool is_auto = asked.kind == AR_LEVELS_AUTO;
    const bool is_in_nodes = ar_algorithm_has_levels_in_nodes(row);
    if (is_auto && (is_in_nodes || c->nranks == 2)) /* which is flat there */
        return MPI_SUCCESS;
    const struct ar_domains *const domains = !is_in_nodes ? find_domains(c, comm, &error)
                                             : asked.kind == AR_LEVELS_NAMES
                                                 ? gather_domains(c, comm, &error)
                                                 : NULL;
    if (error)
        return error;
    /* If ranks share cores, each further round waits until all have had their turn. */
    if (is_auto && domains && c->memory.grades[AR_MEMORY_SHORT].node.is_crowded)
        return MPI_SUCCESS;
    if (is_auto && domains && ar_levels_auto(&asked, domains, d->key.count * d->key.size))
        return MPI_ERR_NO_MEM;
    if (!ar_levels_may_group(&asked, domains)) {
        if (params->levels.kind == AR_LEVELS_NAMES)
            params->levels = (struct ar_levels){.kind = AR_LEVELS_FLAT};
        return MPI_SUCCESS;
    }
    const struct ar_levels_kept *const kept = find_kept(c, row, &asked, domains);
    if (!kept)
        return MPI_ERR_NO_MEM;
    const bool may_run = d->key.commutative || kept->grouping.ordered;
    if (kept->found.n > 0 && may_run) {
        params->levels = kept->found;
        params->grouping = &kept->grouping;
        return MPI_SUCCESS;
    }
    if (is_auto)
        return MPI_SUCCESS;
    params->levels = (struct ar_levels){.kind = AR_LEVELS_FLAT};
    const bool are_names = asked.kind == AR_LEVELS_NAMES;
    if (d->node || is_in_nodes)
        d->reason = !may_run                                    ? "op does not commute: flat"
                    : are_names && has_unbound(domains, &asked) ? "ranks are not bound: flat"
                                                                : "no such levels here: flat";
    return MPI_SUCCESS;
}

void
ar_levels_forget(struct ar_communicator *c)
{
    for (struct ar_levels_kept *kept = c->memory.levels, *next; kept; kept = next) {
        next = kept->next;
        ar_grouping_fini(&kept->grouping);
        free(kept);
    }
    c->memory.levels = NULL;
    free(c->memory.domain_of);
    c->memory.domain_of = NULL;
}
