#include "algorithms/card.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "algorithms/cart.h"
#include "algorithms/nodes.h"
#include "algorithms/tree.h"

const char ar_card_segments_scratch[] = "min(w, m) scratch";
const char ar_card_pipelined[] = "about max(ceil(m/w) time, time + (m-1) max(sent/B, reduced C))";

/* A formula that is being read. */
struct reader {
    const char *at;
    const struct ar_algorithm *row;
    enum ar_card_line line;
    const struct ar_params *params;
    double of[128]; /* by letter */
};

/* --- what the letters are --- */

/* The sum of parts - 1 over knomial's rounds, on the rank where it is largest.  *most: the most
 * parts of a round. */
static int
knomial_parts(int n, int radix, int *most)
{
    if (n <= 1)
        return 0;
    const int parts = ar_radix_parts(n, radix);
    const int longer = knomial_parts((n + parts - 1) / parts, radix, most);
    const int shorter = knomial_parts(n / parts, radix, most);
    *most = parts > *most ? parts : *most;
    return parts - 1 + (longer > shorter ? longer : shorter);
}

static void
set_letters(struct reader *in, int nranks, double n, const struct ar_rates *rates)
{
    const struct ar_params *const params = in->params;
    const struct ar_nodes nodes = ar_nodes_make(0, nranks, params);
    const int lanes = params->lanes;
    double *const of = in->of;
    int least, most, most_parts = 0;
    ar_nodes_sizes(&nodes, &least, &most);
    of['p'] = nranks;
    of['n'] = n;
    of['N'] = nodes.count;
    of['L'] = most;
    of['K'] = lanes > 0 && lanes < least ? lanes : least;
    of['r'] = params->root % nranks;
    of['k'] = params->radix < nranks ? params->radix : nranks;
    of['e'] = params->halvings > 0 ? params->halvings : nranks;
    of['W'] = (double)params->whole_bytes;
    if (in->row->takes & AR_TAKES_RADIX)
        of['s'] = knomial_parts(nranks, params->radix, &most_parts);
    of['t'] = most_parts;
    if (in->row->takes & AR_TAKES_DIMS) {
        const struct ar_cart cart = ar_cart_make(0, nranks, params, 2, 2);
        of['X'] = cart.dims[0];
        of['Y'] = cart.dims[1];
    }
    if (rates) {
        of['a'] = rates->a;
        of['B'] = rates->B;
        of['C'] = rates->C;
    }
}

/* --- reading --- */

static double read_sum(struct reader *in);

/* Passes over a text and the blanks around it, if it stands here. */
static bool
pass(struct reader *in, const char *text)
{
    const size_t length = strlen(text);
    in->at += strspn(in->at, " ");
    if (strncmp(in->at, text, length) != 0)
        return false;
    in->at += length;
    in->at += strspn(in->at, " ");
    return true;
}

static double
nearly_ceil(double x)
{
    return ceil(x - 1e-9);
}

static double
nearly_floor(double x)
{
    return floor(x + 1e-9);
}

/* Does a parameter that the row takes have the value of this name? */
static bool
has_value(const struct reader *in, const char *name, size_t length)
{
    const struct ar_params *const p = in->params;
    const struct {
        unsigned bit;
        const char *value;
    } taken[] = {{AR_TAKES_BROADCAST, ar_broadcast_names[p->broadcast]},
                 {AR_TAKES_ALLGATHER, ar_allgather_names[p->allgather]},
                 {AR_TAKES_REDUCE_SCATTER, ar_reduce_scatter_names[p->reduce_scatter]},
                 {AR_TAKES_EXCHANGE, ar_exchange_names[p->exchange]},
                 {AR_TAKES_DISTANCE, ar_distance_names[p->distance]},
                 {AR_TAKES_UNPAIRED, ar_unpaired_names[p->unpaired]},
                 {AR_TAKES_INTRA, ar_intra_names[p->intra]},
                 {AR_TAKES_SERVE, ar_serve_names[p->serve]},
                 {AR_TAKES_ORDER, ar_ring_order_names[p->order]}};
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        if ((in->row->takes & taken[i].bit) && strlen(taken[i].value) == length &&
            strncmp(taken[i].value, name, length) == 0)
            return true;
    return false;
}

/* Behind a bracket. */
static bool
read_condition(struct reader *in)
{
    const size_t length = strcspn(in->at, "<=]");
    if (in->at[length] == ']') {
        in->at += length;
        return has_value(in, in->at - length, length);
    }
    const double x = read_sum(in);
    if (pass(in, "<="))
        return x <= read_sum(in);
    if (pass(in, "<"))
        return x < read_sum(in);
    return pass(in, "=") && x == read_sum(in);
}

/* The least of a list, or the greatest. */
static double
read_extreme(struct reader *in, bool is_greatest)
{
    double x = read_sum(in);
    while (pass(in, ",")) {
        const double y = read_sum(in);
        x = (y > x) == is_greatest ? y : x;
    }
    return x;
}

/* The sum of what follows for each side of the grid, or the product. */
static double
read_over_sides(struct reader *in, bool is_product)
{
    const struct ar_cart cart = ar_cart_make(0, (int)in->of['p'], in->params, 3, AR_DIMS_MAX);
    const char *const begin = in->at;
    double all = is_product;
    for (int i = 0; i < cart.ndims; i++) {
        in->at = begin;
        in->of['d'] = cart.dims[i];
        const double x = read_sum(in);
        all = is_product ? all * x : all + x;
    }
    return all;
}

/* A line of the row itself, or of the row between nodes. */
static double
read_line(const struct reader *in, enum ar_card_line line, bool is_inter)
{
    const double *const of = in->of, parts = is_inter ? of['K'] : 1;
    const struct ar_rates rates = {of['a'], of['B'] / parts, of['C']};
    const struct ar_algorithm *const row = is_inter ? ar_params_inter(in->params) : in->row;
    return ar_card_value(row, line, is_inter ? &row->defaults : in->params,
                         (int)of[is_inter ? 'N' : 'p'], of['n'] / parts, &rates);
}

/* A function of what stands behind it in parentheses. */
static bool
read_function(struct reader *in, double *x)
{
    if (pass(in, "max("))
        *x = read_extreme(in, true);
    else if (pass(in, "min("))
        *x = read_extreme(in, false);
    else if (pass(in, "sum("))
        *x = read_over_sides(in, false);
    else if (pass(in, "prod("))
        *x = read_over_sides(in, true);
    else if (pass(in, "("))
        *x = read_sum(in);
    else if (pass(in, "["))
        *x = read_condition(in);
    else
        return false;
    return pass(in, in->at[0] == ']' ? "]" : ")");
}

static double
read_primary(struct reader *in)
{
    double x = 0;
    if (read_function(in, &x))
        return x;
    if (pass(in, "ceil"))
        return nearly_ceil(read_primary(in));
    if (pass(in, "floor"))
        return nearly_floor(read_primary(in));
    if (pass(in, "log2"))
        return log2(read_primary(in));
    if (pass(in, "log_k"))
        return log2(read_primary(in)) / log2(in->of['k']);
    if (pass(in, "row"))
        return read_line(in, in->line, true);
    if (pass(in, "sent"))
        return read_line(in, AR_CARD_SENT, false);
    if (pass(in, "reduced"))
        return read_line(in, AR_CARD_REDUCED, false);
    if (pass(in, "time"))
        return read_line(in, AR_CARD_TIME, false);
    if (*in->at < '0' || *in->at > '9')
        return in->of[*in->at++ & 127];
    while (*in->at >= '0' && *in->at <= '9')
        x = 10 * x + (*in->at++ - '0');
    return x;
}

static double
read_power(struct reader *in)
{
    const double x = read_primary(in);
    return pass(in, "^") ? pow(x, read_primary(in)) : x;
}

/* What stands side by side is multiplied. */
static double
read_product(struct reader *in)
{
    double x = read_power(in);
    for (;;) {
        if (pass(in, "/"))
            x /= read_power(in);
        else if (*in->at && !strchr("+-,)]<=", *in->at))
            x *= read_power(in);
        else
            return x;
    }
}

static double
read_sum(struct reader *in)
{
    double x = read_product(in);
    for (;;) {
        if (pass(in, "+"))
            x += read_product(in);
        else if (pass(in, "-"))
            x -= read_product(in);
        else
            return x;
    }
}

/* --- cards --- */

double
ar_card_value(const struct ar_algorithm *row, enum ar_card_line line,
              const struct ar_params *params, int nranks, double n, const struct ar_rates *rates)
{
    struct reader in = {.at = row->where, .row = row, .line = line, .params = params};
    if (nranks == 1 || n == 0)
        return 0;
    set_letters(&in, nranks, n, rates);
    for (bool more = row->where != NULL; more; more = pass(&in, ",")) {
        const int letter = *in.at++ & 127;
        pass(&in, "=");
        in.of[letter] = read_sum(&in);
    }
    in.at = row->card[line];
    if (!pass(&in, "at most"))
        pass(&in, "about");
    return read_sum(&in);
}

double
ar_card_pipelined_value(const struct ar_algorithm *row, const struct ar_params *params, int nranks,
                        double n, double m, double w, const struct ar_rates *rates)
{
    struct reader in = {.at = ar_card_pipelined, .row = row, .params = params};
    if (nranks == 1 || n == 0)
        return 0;
    if (w <= 1) {
        const double time = ar_card_value(row, AR_CARD_TIME, params, nranks, n, rates);
        in.at = row->another;
        set_letters(&in, nranks, n, rates);
        return time + (m - 1) * (in.at ? read_sum(&in) : time);
    }
    set_letters(&in, nranks, n, rates);
    in.of['m'] = m;
    in.of['w'] = w < m ? w : m;
    pass(&in, "about");
    return read_sum(&in);
}

char *
ar_card_segments_print(char *text, size_t room, const struct ar_algorithm *row, int window)
{
    if (window > 1)
        snprintf(text, room, "%s", ar_card_pipelined);
    else if (row->another)
        snprintf(text, room, "time + (m-1)(%s)", row->another);
    else
        snprintf(text, room, "m time");
    return text;
}
