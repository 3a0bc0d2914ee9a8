#include "algorithms/grid.h"

/* No dimension found by itself is more than this times another. */
#define ASPECT_MAX 4

/* --- dimensions --- */

/* Largest r with r^k <= n. */
static int
floor_root(int n, int k)
{
    for (int r = 1;; r++) {
        long long power = 1;
        for (int i = 0; i < k && power <= n; i++)
            power *= r + 1;
        if (power > n)
            return r;
    }
}

static int
largest_divisor_up_to(int n, int most)
{
    int d = most;
    while (n % d)
        d--;
    return d;
}

static void
set_divisors(struct ar_grid *grid, int nranks)
{
    int left = nranks;
    for (int i = 0; i < grid->ndims; i++) {
        grid->dims[i] = largest_divisor_up_to(left, floor_root(left, grid->ndims - i));
        left /= grid->dims[i];
    }
}

static void
set_roots(struct ar_grid *grid, int nranks)
{
    int left = nranks;
    for (int i = 0; i < grid->ndims; i++) {
        grid->dims[i] = floor_root(left, grid->ndims - i);
        left /= grid->dims[i];
    }
}

static bool
is_oblong(const struct ar_grid *grid)
{
    int least = grid->dims[0], most = grid->dims[0];
    for (int i = 1; i < grid->ndims; i++) {
        least = grid->dims[i] < least ? grid->dims[i] : least;
        most = grid->dims[i] > most ? grid->dims[i] : most;
    }
    return most > ASPECT_MAX * least;
}

static void
set_given(struct ar_grid *grid, int nranks, const struct ar_params *params, int most)
{
    int left = nranks;

    grid->ndims = params->ndims < most ? params->ndims : most;
    for (int i = 0; i < params->ndims; i++) {
        const int given = params->dims[i] < left ? params->dims[i] : left;
        if (i < most)
            grid->dims[i] = given;
        else
            grid->dims[most - 1] *= given;
        left /= given;
    }
    if (grid->ndims < most)
        grid->dims[grid->ndims++] = left;
}

static void
set_dims(struct ar_grid *grid, int nranks, const struct ar_params *params, int most)
{
    const int per_node = params->ndims > 0 ? 0 : ar_nodes_even(&grid->nodes);

    grid->by_node = grid->nodes.count > 1 && per_node > 1;
    if (params->ndims > 0) {
        set_given(grid, nranks, params, most);
    } else if (grid->by_node) {
        grid->ndims = 2;
        grid->dims[0] = per_node;
        grid->dims[1] = grid->nodes.count;
    } else {
        set_divisors(grid, nranks);
        if (is_oblong(grid))
            set_roots(grid, nranks);
    }
}

/* --- places --- */

static struct ar_span
run_at(const struct ar_grid *grid, int position)
{
    return ar_block((struct ar_cut){(size_t)grid->nodes.nranks, grid->size}, position);
}

static int
rank_at(const struct ar_grid *grid, int position)
{
    if (grid->by_node)
        return ar_nodes_rank(&grid->nodes, position / grid->dims[0], position % grid->dims[0]);
    return (int)run_at(grid, position).offset;
}

/* The inverse of run_at: the longer runs come first. */
static int
position_of(const struct ar_grid *grid, int rank)
{
    const int length = grid->nodes.nranks / grid->size;
    const int longer = grid->nodes.nranks % grid->size;
    const int in_longer = longer * (length + 1);
    return rank < in_longer ? rank / (length + 1) : longer + (rank - in_longer) / length;
}

struct ar_grid
ar_grid_make(int rank, int nranks, const struct ar_params *params, int ndims, int most)
{
    struct ar_grid grid = {.nodes = ar_nodes_make(rank, nranks, params), .ndims = ndims};

    set_dims(&grid, nranks, params, most);
    grid.size = 1;
    for (int i = 0; i < grid.ndims; i++)
        grid.size *= grid.dims[i];
    if (grid.by_node) {
        grid.position = grid.nodes.mine * grid.dims[0] + grid.nodes.local_rank;
        grid.first = rank;
        grid.run = 1;
    } else {
        grid.position = position_of(&grid, rank);
        grid.first = rank_at(&grid, grid.position);
        grid.run = (int)run_at(&grid, grid.position).length;
    }
    return grid;
}

bool
ar_grid_holds(const struct ar_grid *grid, int rank)
{
    return rank == grid->first;
}

struct ar_loop
ar_grid_loop(const struct ar_grid *grid, int dim)
{
    int stride = 1;
    for (int i = 0; i < dim && i < grid->ndims; i++)
        stride *= grid->dims[i];
    const int size = dim < grid->ndims ? grid->dims[dim] : 1;
    const int me = grid->position / stride % size;
    const int origin = grid->position - me * stride;
    return (struct ar_loop){size, me, rank_at(grid, origin + (me + size - 1) % size * stride),
                            rank_at(grid, origin + (me + 1) % size * stride)};
}

/* --- runs --- */

static int
rank_in_run(const void *layout, int i)
{
    const struct ar_grid *grid = layout;
    return grid->first + i;
}

static struct ar_group
run_of(const struct ar_schedule *s, const struct ar_grid *grid)
{
    return (struct ar_group){grid->run, s->rank - grid->first, rank_in_run, grid};
}

enum ar_buffer
ar_grid_fold(struct ar_schedule *s, const struct ar_grid *grid)
{
    const struct ar_group run = run_of(s, grid);
    return ar_binomial_reduce(s, &run, ar_whole(s->count), AR_IN);
}

void
ar_grid_unfold(struct ar_schedule *s, const struct ar_grid *grid)
{
    const struct ar_group run = run_of(s, grid);
    ar_binomial_broadcast(s, &run, ar_whole(s->count));
}
