#include "algorithms/shares.h"

static int
rank_itself(const void *layout, int i)
{
    (void)layout;
    return i;
}

struct ar_shares
ar_shares_of_all(const struct ar_grouping *grouping, int rank, int nranks, size_t count)
{
    const struct ar_group all = {nranks, rank, rank_itself, NULL};
    return (struct ar_shares){grouping, all, grouping ? grouping->at[rank] : rank, count};
}

int
ar_shares_rank(const struct ar_shares *v, int place)
{
    return v->grouping ? v->grouping->rank_at[place] : ar_group_rank(&v->flat, place);
}

int
ar_shares_begin(const struct ar_shares *v, int level, int place)
{
    if (level < 0)
        return place;
    return v->grouping ? v->grouping->level[level].begin[place] : 0;
}

int
ar_shares_end(const struct ar_shares *v, int level, int place)
{
    if (level < 0)
        return place + 1;
    return v->grouping ? v->grouping->level[level].end[place] : v->flat.size;
}

struct ar_span
ar_share_cut(size_t count, int parts, int i)
{
    const size_t n = (size_t)parts, at = (size_t)i, quotient = count / n, rest = count % n;
    const size_t begin = at * quotient + at * rest / n;
    return (struct ar_span){begin, (at + 1) * quotient + (at + 1) * rest / n - begin};
}

struct ar_span
ar_shares_span(const struct ar_shares *v, int level, int place)
{
    if (level < 0)
        return ar_whole(v->count);
    const int lane =
        v->grouping ? v->grouping->level[level].lane[v->grouping->rank_at[place]] : place;
    return ar_share_cut(v->count, ar_shares_end(v, level, place) - ar_shares_begin(v, level, place),
                        lane);
}

struct ar_span
ar_span_common(struct ar_span a, struct ar_span b)
{
    const size_t a_end = a.offset + a.length, b_end = b.offset + b.length;
    const size_t begin = a.offset > b.offset ? a.offset : b.offset;
    const size_t end = a_end < b_end ? a_end : b_end;
    return (struct ar_span){begin, end > begin ? end - begin : 0};
}
