#include "algorithms/cart.h"

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

/* Sets dimensions as nearly equal as can be. */
static void
set_free(struct ar_cart *cart, int nranks)
{
    int least = nranks, most = 1;
    for (int i = 0, left = nranks; i < cart->ndims; left /= cart->dims[i++]) {
        int divisor = floor_root(left, cart->ndims - i);
        while (left % divisor)
            divisor--;
        cart->dims[i] = divisor;
        least = divisor < least ? divisor : least;
        most = divisor > most ? divisor : most;
    }
    if (most > ASPECT_MAX * least)
        for (int i = 0, left = nranks; i < cart->ndims; left /= cart->dims[i++])
            cart->dims[i] = floor_root(left, cart->ndims - i);
}

static void
set_given(struct ar_cart *cart, int nranks, const struct ar_params *params, int most)
{
    int left = nranks;

    cart->ndims = params->ndims < most ? params->ndims : most;
    for (int i = 0; i < params->ndims; i++) {
        const int given = params->dims[i] < left ? params->dims[i] : left;
        if (i < most)
            cart->dims[i] = given;
        else
            cart->dims[most - 1] *= given;
        left /= given;
    }
    if (cart->ndims < most)
        cart->dims[cart->ndims++] = left;
}

bool
ar_cart_fit(struct ar_params *params, int nranks, int most)
{
    struct ar_cart cart;
    bool changes = params->ndims > most;
    set_given(&cart, nranks, params, most);
    params->ndims = changes ? most : params->ndims;
    for (int i = 0; i < params->ndims; i++) {
        changes |= params->dims[i] != cart.dims[i];
        params->dims[i] = cart.dims[i];
    }
    return changes;
}

/* --- places --- */

static struct ar_span
run_at(const struct ar_cart *cart, int position)
{
    return ar_block((struct ar_cut){(size_t)cart->nodes.nranks, cart->size}, position);
}

static int
rank_at(const struct ar_cart *cart, int position)
{
    if (cart->by_node)
        return ar_nodes_rank(&cart->nodes, position / cart->dims[0], position % cart->dims[0]);
    return (int)run_at(cart, position).offset;
}

struct ar_cart
ar_cart_make(int rank, int nranks, const struct ar_params *params, int ndims, int most)
{
    struct ar_cart cart = {.nodes = ar_nodes_make(rank, nranks, params), .ndims = ndims, .size = 1};
    const int per_node = params->ndims > 0 ? 0 : ar_nodes_even(&cart.nodes);

    cart.by_node = cart.nodes.count > 1 && per_node > 1;
    if (params->ndims > 0) {
        set_given(&cart, nranks, params, most);
    } else if (cart.by_node) {
        cart.ndims = 2;
        cart.dims[0] = per_node;
        cart.dims[1] = cart.nodes.count;
    } else {
        set_free(&cart, nranks);
    }
    for (int i = 0; i < cart.ndims; i++)
        cart.size *= cart.dims[i];
    if (cart.by_node) {
        cart.position = cart.nodes.mine * per_node + cart.nodes.local_rank;
        cart.first = rank;
        cart.run = 1;
    } else { /* the inverse of run_at: the longer runs come first */
        const int length = nranks / cart.size, longer = nranks % cart.size;
        const int in_longer = longer * (length + 1);
        cart.position =
            rank < in_longer ? rank / (length + 1) : longer + (rank - in_longer) / length;
        cart.first = rank_at(&cart, cart.position);
        cart.run = (int)run_at(&cart, cart.position).length;
    }
    return cart;
}

struct ar_loop
ar_cart_loop(const struct ar_cart *cart, int dim)
{
    int stride = 1;
    for (int i = 0; i < dim && i < cart->ndims; i++)
        stride *= cart->dims[i];
    const int size = dim < cart->ndims ? cart->dims[dim] : 1;
    const int me = cart->position / stride % size;
    const int origin = cart->position - me * stride;
    return (struct ar_loop){size, me, rank_at(cart, origin + (me + size - 1) % size * stride),
                            rank_at(cart, origin + (me + 1) % size * stride)};
}

/* --- runs --- */

static int
rank_in_run(const void *layout, int i)
{
    const struct ar_cart *cart = layout;
    return cart->first + i;
}

enum ar_buffer
ar_cart_fold(struct ar_schedule *s, const struct ar_cart *cart)
{
    const struct ar_group run = {cart->run, s->rank - cart->first, rank_in_run, cart};
    return ar_binomial_reduce(s, &run, ar_whole(s->count), AR_IN);
}

void
ar_cart_unfold(struct ar_schedule *s, const struct ar_cart *cart)
{
    const struct ar_group run = {cart->run, s->rank - cart->first, rank_in_run, cart};
    ar_binomial_broadcast(s, &run, ar_whole(s->count));
}

/* --- rings --- */

static void
on_grid(struct ar_schedule *s, const struct ar_cart *cart, enum ar_buffer have)
{
    struct ar_loop loops[AR_DIMS_MAX] = {0};
    struct ar_span spans[AR_DIMS_MAX + 1] = {
        ar_whole(s->count)}; /* dimension i works on spans[i] */

    for (int i = 0; i < cart->ndims; i++) {
        loops[i] = ar_cart_loop(cart, i);
        spans[i + 1] = ar_subspan(spans[i], loops[i].size, loops[i].me);
        have = ar_ring_reduce_scatter(s, loops[i], spans[i], have);
    }
    for (int i = cart->ndims - 1; i >= 0; i--)
        ar_ring_allgather(s, loops[i], spans[i]);
}

void
ar_cart_rings(struct ar_schedule *s, const struct ar_cart *cart)
{
    const enum ar_buffer have = ar_cart_fold(s, cart);
    if (s->rank == cart->first)
        on_grid(s, cart, have);
    ar_cart_unfold(s, cart);
}
