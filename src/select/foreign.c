#include "select/foreign.h"

#include <string.h>

const char *const ar_library_names[AR_LIBRARIES + 1] = {"intel", "openmpi", "mpich", "ucc",
                                                        "nccl",  "oneccl",  NULL};
const char *const ar_library_titles[AR_LIBRARIES] = {"Intel MPI", "Open MPI", "MPICH",
                                                     "UCC",       "NCCL",     "oneCCL"};

#define INTEL(...)                                                                                 \
    {                                                                                              \
        AR_LIBRARY_INTEL, __VA_ARGS__, NULL                                                        \
    }
#define OPENMPI(...)                                                                               \
    {                                                                                              \
        AR_LIBRARY_OPENMPI, __VA_ARGS__, NULL                                                      \
    }
#define MPICH(...)                                                                                 \
    {                                                                                              \
        AR_LIBRARY_MPICH, -1, __VA_ARGS__, NULL                                                    \
    }
#define UCC(...)                                                                                   \
    {                                                                                              \
        AR_LIBRARY_UCC, __VA_ARGS__, NULL                                                          \
    }
#define NCCL(...)                                                                                  \
    {                                                                                              \
        AR_LIBRARY_NCCL, -1, __VA_ARGS__, NULL                                                     \
    }
#define ONECCL(...)                                                                                \
    {                                                                                              \
        AR_LIBRARY_ONECCL, -1, __VA_ARGS__, NULL                                                   \
    }

/* Where all ranks share a node it is shm. */
#define INTEL_SHM(...)                                                                             \
    {                                                                                              \
        AR_LIBRARY_INTEL, __VA_ARGS__, NULL, "shm"                                                 \
    }

static const char in_network[] = "it reduces inside the network or the switch";

/* Of several that one row stands for, the nearest comes first. */
static const struct ar_counterpart counterparts[] = {
    INTEL(0, "default", "native", NULL),
    INTEL(1, "recursive_doubling", "butterfly", NULL),
    INTEL(2, "rabenseifner", "rhd", NULL),
    INTEL(3, "reduce_bcast", "reduce_bcast", NULL),
    INTEL(4, "topology_aware_reduce_bcast", "hier_reduce_bcast", NULL),
    INTEL(5, "binomial_gather_scatter", "gather_scatter", NULL),
    INTEL(6, "topology_aware_binomial_gather_scatter", "hier_gather_scatter", NULL),
    INTEL(7, "shumilin_ring", "segmented_ring", NULL),
    INTEL(8, "ring", "ring", NULL),
    INTEL(9, "knomial", "knomial", NULL),
    INTEL_SHM(10, "topology_aware_shm_flat", "two_level(inter=star,lanes=one)"),
    INTEL_SHM(11, "topology_aware_shm_knomial", "two_level(inter=knomial,lanes=one)"),
    INTEL_SHM(12, "topology_aware_shm_knary", "two_level(inter=knary,lanes=one)"),

    OPENMPI(0, "ignore", "native", "0 leaves the choice to Open MPI"),
    OPENMPI(1, "basic_linear", "star", NULL),
    OPENMPI(2, "nonoverlapping", "reduce_bcast",
            "Open MPI chooses the algorithms of its reduce and broadcast separately"),
    OPENMPI(3, "recursive_doubling", "butterfly", NULL),
    OPENMPI(4, "ring", "ring", "Open MPI runs recursive doubling for fewer elements than ranks"),
    OPENMPI(5, "segmented_ring", "segmented_ring",
            "Open MPI runs its plain ring if a block is no longer than a segment"),
    OPENMPI(6, "rabenseifner", "rhd", NULL),
    OPENMPI(7, "allgather_reduce", "allgather_fold", NULL),

    MPICH("auto", "native", NULL),
    MPICH("recursive_doubling", "butterfly", NULL),
    MPICH("reduce_scatter_allgather", "rhd",
          "it is Rabenseifner's algorithm; reduce_scatter_allgather is a different one here"),
    MPICH("k_reduce_scatter_allgather", "rhd",
          "it halves the vector here, whatever the radix is there"),
    MPICH("recursive_multiplying", "knomial", NULL),
    MPICH("recexch", "knomial", "the radix is 4 here, whatever it is there"),
    MPICH("tree", "reduce_bcast", "the tree is binomial here"),
    MPICH("ring", "ring", NULL),
    MPICH("smp", "two_level(inter=butterfly,lanes=one)",
          "MPICH chooses the algorithm between the nodes separately"),
    MPICH("release_gather", "shm", NULL),
    MPICH("nb", NULL, "it is the MPI library's own nonblocking allreduce"),
    MPICH("ccl", NULL, "it calls another library"),

    UCC(0, "knomial", "knomial", NULL),
    UCC(1, "sra_knomial", "rhd", "it halves the vector here, whatever the radix is there"),
    UCC(-1, "dbt", "double_tree", NULL),
    UCC(-1, "ring", "ring", NULL),
    UCC(-1, "sliding_window", NULL, "it needs memory that the network can read directly"),

    NCCL("ring", "ring", NULL),
    NCCL("tree", "double_tree", NULL),
    NCCL("collnetdirect", NULL, in_network),
    NCCL("collnetchain", NULL, in_network),
    NCCL("nvls", NULL, in_network),
    NCCL("nvlstree", NULL, in_network),
    NCCL("pat", NULL, "NCCL has no such allreduce"),

    ONECCL("direct", "native", NULL),
    ONECCL("rabenseifner", "rhd", NULL),
    ONECCL("nreduce", NULL, "it is oneCCL's own, for ranks that arrive at different times"),
    ONECCL("ring", "ring", NULL),
    ONECCL("double_tree", "double_tree", NULL),
    ONECCL("recursive_doubling", "butterfly", NULL),
    ONECCL("2d", "torus2d", "the grid is as square as it can be here"),
    ONECCL("topo", NULL, "it is for memory of GPUs"),
};

enum { COUNTERPARTS = sizeof counterparts / sizeof counterparts[0] };

size_t
ar_counterpart_count(void)
{
    return COUNTERPARTS;
}

const struct ar_counterpart *
ar_counterpart_at(size_t i)
{
    return &counterparts[i];
}

const struct ar_counterpart *
ar_counterpart_find(enum ar_foreign library, struct ar_word word)
{
    int id = -1;
    const bool is_id = ar_word_int(word, 0, 999, &id);
    for (int i = 0; i < COUNTERPARTS; i++) {
        const struct ar_counterpart *const c = &counterparts[i];
        if (c->library == library && (is_id ? c->id == id : ar_word_is(word, c->name)))
            return c;
    }
    return NULL;
}

void
ar_text_counterparts(struct ar_text *t, enum ar_foreign library)
{
    const size_t begun = t->length;
    for (int i = 0; i < COUNTERPARTS; i++) {
        const struct ar_counterpart *const c = &counterparts[i];
        if (c->library != library)
            continue;
        ar_text_add(t, "%s", t->length > begun ? ", " : "");
        if (c->id >= 0)
            ar_text_add(t, "%d ", c->id);
        ar_text_add(t, "%s", c->name);
    }
}

void
ar_text_suggest_elsewhere(struct ar_text *t, struct ar_word word)
{
    for (int i = 0; i < AR_LIBRARIES; i++) {
        const struct ar_counterpart *const c = ar_counterpart_find((enum ar_foreign)i, word);
        if (c && c->choice)
            ar_text_add(t, "; %s's %s is %s here", ar_library_titles[i], c->name, c->choice);
        else if (c)
            ar_text_add(t, "; %s's %s has no counterpart: %s", ar_library_titles[i], c->name,
                        c->note);
    }
}

/* Is the choice, with any parameters, of this row? */
static bool
is_row(const char *choice, const struct ar_algorithm *row)
{
    const size_t length = strlen(row->name);
    return choice && strncmp(choice, row->name, length) == 0 &&
           (choice[length] == '\0' || choice[length] == '(');
}

bool
ar_counterpart_is(const struct ar_counterpart *c, const struct ar_algorithm *row)
{
    return is_row(c->choice, row) || is_row(c->on_one_node, row);
}

const struct ar_counterpart *
ar_counterpart_of(enum ar_foreign library, const struct ar_choice *choice)
{
    char text[AR_CHOICE_TEXT];
    ar_choice_print(choice, text, sizeof text);
    for (const struct ar_counterpart *c = counterparts; c < counterparts + COUNTERPARTS; c++) {
        const bool has_params = c->choice && strchr(c->choice, '(');
        if (c->library == library &&
            (has_params ? strcmp(c->choice, text) == 0 || is_row(c->on_one_node, choice->algorithm)
                        : is_row(c->choice, choice->algorithm)))
            return c;
    }
    return NULL;
}

static bool
is_intel(int i, const struct ar_algorithm *row)
{
    return i < COUNTERPARTS && counterparts[i].library == AR_LIBRARY_INTEL &&
           ar_counterpart_is(&counterparts[i], row);
}

void
ar_text_intel_ids(struct ar_text *t, const struct ar_algorithm *row)
{
    const size_t begun = t->length;
    for (int i = 0, last; i < COUNTERPARTS; i = last + 1) {
        last = i;
        if (!is_intel(i, row))
            continue;
        while (is_intel(last + 1, row))
            last++;
        ar_text_add(t, "%s%d", t->length > begun ? "," : "", counterparts[i].id);
        if (last > i)
            ar_text_add(t, "-%d", counterparts[last].id);
    }
}

void
ar_text_elsewhere(struct ar_text *t, const struct ar_algorithm *row)
{
    const size_t begun = t->length;
    for (int i = 0; i < COUNTERPARTS; i++) {
        const struct ar_counterpart *const c = &counterparts[i];
        if (c->library == AR_LIBRARY_INTEL || !is_row(c->choice, row))
            continue;
        ar_text_add(t, "%s%s %s", t->length > begun ? ", " : "", ar_library_titles[c->library],
                    c->name);
        if (c->id >= 0)
            ar_text_add(t, " (%d)", c->id);
    }
}

void
ar_text_namesakes(struct ar_text *t, const struct ar_algorithm *row)
{
    for (int i = 0; i < AR_LIBRARIES; i++) {
        const struct ar_counterpart *const c =
            ar_counterpart_find((enum ar_foreign)i, ar_word_of(row->name));
        if (c && c->choice && !ar_counterpart_is(c, row))
            ar_text_add(t, "%s%s's %s is %s here", t->length > 0 ? ", " : "", ar_library_titles[i],
                        c->name, c->choice);
    }
}

static const struct {
    const char *name;
    enum ar_foreign library;
} variables[] = {
    {"I_MPI_ADJUST_ALLREDUCE", AR_LIBRARY_INTEL},
    {"I_MPI_ADJUST_ALLREDUCE_LIST", AR_LIBRARY_INTEL},
    {"OMPI_MCA_coll_tuned_allreduce_algorithm", AR_LIBRARY_OPENMPI},
    {"coll_tuned_allreduce_algorithm", AR_LIBRARY_OPENMPI},
    {"OMPI_MCA_coll_tuned_dynamic_rules_filename", AR_LIBRARY_OPENMPI},
    {"coll_tuned_dynamic_rules_filename", AR_LIBRARY_OPENMPI},
    {"MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM", AR_LIBRARY_MPICH},
    {"MPICH_ALLREDUCE_INTRA_ALGORITHM", AR_LIBRARY_MPICH},
    {"MPIR_PARAM_ALLREDUCE_INTRA_ALGORITHM", AR_LIBRARY_MPICH},
    {"UCC_TL_UCP_TUNE", AR_LIBRARY_UCC},
    {"UCC_TL_UCP_ALLREDUCE_KN_RADIX", AR_LIBRARY_UCC},
    {"NCCL_ALGO", AR_LIBRARY_NCCL},
    {"CCL_ALLREDUCE", AR_LIBRARY_ONECCL},
};

const char *
ar_library_variable_at(size_t i)
{
    return i < sizeof variables / sizeof variables[0] ? variables[i].name : NULL;
}

void
ar_text_settings(struct ar_text *t)
{
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        ar_text_add(t, "%s%s (%s)", i ? ", " : "", variables[i].name,
                    ar_library_titles[variables[i].library]);
}

enum ar_foreign
ar_library_of_variable(struct ar_word name)
{
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        if (strlen(variables[i].name) == name.length &&
            memcmp(variables[i].name, name.at, name.length) == 0)
            return variables[i].library;
    return AR_LIBRARIES;
}
