/* What bench judges by: for every type and op, a reduction in any order of ranks is right, and
 * one that lacks a rank or differs in one element is not. */
#include "config.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "check.h"
#include "helper/operand.h"

#define RANKS 5
#define COUNT 10007

static bool
judges_create(struct ar_judge *judges[RANKS], struct ar_named *type, enum ar_op op)
{
    struct ar_reduction r;
    if (!ar_reduction_resolve(&r, ar_op_handle(op), type->geometry.type))
        return false;
    for (int rank = 0; rank < RANKS; rank++)
        if (ar_judge_create(&judges[rank], &r, rank, RANKS))
            return false;
    return true;
}

static void
judges_destroy(struct ar_judge *judges[RANKS])
{
    for (int rank = 0; rank < RANKS; rank++)
        ar_judge_destroy(judges[rank]);
}

/* Element for element the reduction of all ranks but one, each rank in a place of its own. */
static void
fold(char *sum, char *part, struct ar_judge *judges[RANKS], const struct ar_named *type,
     enum ar_op op, const int order[RANKS], int without)
{
    bool first = true;
    for (int i = 0; i < RANKS; i++) {
        if (order[i] == without)
            continue;
        ar_judge_fill(judges[order[i]], first ? sum : part, COUNT);
        if (!first)
            MPI_Reduce_local(part, sum, COUNT, type->geometry.type, ar_op_handle(op));
        first = false;
    }
}

static void
judge(struct ar_named *type, const char *name, enum ar_op op, char *sum, char *part)
{
    static const int up[RANKS] = {0, 1, 2, 3, 4}, mixed[RANKS] = {3, 0, 4, 2, 1};
    const char *const op_name = ar_op_name(op);
    struct ar_judge *judges[RANKS];
    if (!judges_create(judges, type, op)) {
        CHECK(false, "no judge of %s %s", name, op_name);
        return;
    }
    struct ar_judge *const j = judges[0];
    fold(sum, part, judges, type, op, up, -1);
    CHECK(ar_judge_is_right(j, sum, COUNT), "%s %s", name, op_name);
    fold(sum, part, judges, type, op, mixed, -1);
    CHECK(ar_judge_is_right(j, sum, COUNT), "%s %s, mixed", name, op_name);
    CHECK(ar_judge_distance(j, sum, NULL, COUNT) < 1e-6, "%s %s", name, op_name);
    CHECK(ar_judge_distance(j, sum, sum, COUNT) == 0, "%s", name);
    memset(sum + (COUNT / 2) * type->geometry.extent, 0x55, (size_t)type->geometry.extent);
    CHECK(!ar_judge_is_right(j, sum, COUNT), "%s %s, one", name, op_name);
    fold(sum, part, judges, type, op, up, 3);
    CHECK(!ar_judge_is_right(j, sum, COUNT), "%s %s, less", name, op_name);
    judges_destroy(judges);
}

static void
every_type_and_op_is_judged(void)
{
    char *sum = calloc(COUNT, 64), *part = calloc(COUNT, 64);
    for (size_t row = 0; ar_named_name(row); row++) {
        struct ar_named *const type = ar_named_at(row);
        if (!type || type->candidates.n == 0)
            continue; /* not of this MPI, or bench refuses it */
        for (int op = 0; op < AR_OPS; op++)
            if (type->ops & 1u << op)
                judge(type, ar_named_name(row), (enum ar_op)op, sum, part);
    }
    free(sum);
    free(part);
}

/* The error of a sum of floats is that of a double's. */
static void
rounding_is_measured(void)
{
    static const int up[RANKS] = {0, 1, 2, 3, 4}, down[RANKS] = {4, 3, 2, 1, 0};
    static float sum[COUNT], other[COUNT], part[COUNT];
    struct ar_named *const type = ar_named_find(MPI_FLOAT);
    struct ar_judge *judges[RANKS];
    if (!judges_create(judges, type, AR_SUM)) {
        CHECK(false, "no judge of floats");
        return;
    }
    struct ar_judge *const j = judges[0];
    fold((char *)sum, (char *)part, judges, type, AR_SUM, up, -1);
    fold((char *)other, (char *)part, judges, type, AR_SUM, down, -1);
    const double error = ar_judge_distance(j, sum, NULL, COUNT);
    CHECK(error > 1e-9 && error < 2e-7, "%g", error);
    const double apart = ar_judge_distance(j, sum, other, COUNT);
    CHECK(apart > 1e-9 && apart < 4e-7, "%g", apart);
    sum[77] = NAN;
    CHECK(isinf(ar_judge_distance(j, sum, NULL, COUNT)), "NaN");
    CHECK(!ar_judge_is_right(j, sum, COUNT), "NaN");
    judges_destroy(judges);
}

static void
names_are_found_with_and_without_their_beginning(void)
{
    char why[256];
    struct ar_text t;
    size_t row;
    enum ar_op op;
    ar_text_init(&t, why, sizeof why);
    for (size_t i = 0; ar_named_name(i); i++) {
        CHECK(ar_type_find(&row, ar_named_name(i), &t) && row == i, "%s", ar_named_name(i));
        CHECK(ar_type_find(&row, ar_named_name(i) + 4, &t) && row == i, "%s", ar_named_name(i));
    }
    for (int i = 0; i < AR_OPS; i++) {
        const char *const name = ar_op_name((enum ar_op)i);
        CHECK(ar_op_by_name(&op, name, &t) && op == (enum ar_op)i, "%s", name);
        CHECK(ar_op_by_name(&op, name + 4, &t) && op == (enum ar_op)i, "%s", name);
        enum ar_op found = AR_OPS;
        CHECK(ar_op_find(&found, ar_op_handle((enum ar_op)i)) == AR_OP_PREDEFINED &&
                  found == (enum ar_op)i,
              "%s", name);
    }
    CHECK(!ar_type_find(&row, "flaot", &t) && strstr(why, "did you mean 'FLOAT'"), "%s", why);
}

int
main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    every_type_and_op_is_judged();
    rounding_is_measured();
    names_are_found_with_and_without_their_beginning();
    MPI_Finalize();
    return check_status();
}
