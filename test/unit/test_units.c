/* The units of a heap, against a model that has a word for each of them. */
#include <stdlib.h>
#include <string.h>

#include "execute/units.h"
#include "unit.h"

enum { UNITS = 300, RANGES = 60, STEPS = 200000 };

static struct ar_unit table[UNITS];
static struct ar_units units;

/* The model. */
static struct {
    uint32_t first, length; /* length 0: none */
} range[RANGES];
static int owner[UNITS]; /* number of the range, or -1 */
static bool written[UNITS];

static uint64_t state = 1;

static uint32_t
draw(uint32_t below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % below;
}

static void
begin(void)
{
    memset(table, 0, sizeof table);
    memset(range, 0, sizeof range);
    memset(written, 0, sizeof written);
    for (int i = 0; i < UNITS; i++)
        owner[i] = -1;
    ar_units_init(&units, table, UNITS);
}

/* Is there a row of so many units that nobody has? */
static bool
has_row(uint32_t length)
{
    uint32_t row = 0;
    for (uint32_t i = 0; i < UNITS && row < length; i++)
        row = owner[i] < 0 ? row + 1 : 0;
    return row >= length;
}

static void
own(int number, uint32_t first, uint32_t length)
{
    for (uint32_t i = first; i < first + length; i++) {
        assert_in_range(i, 0, UNITS - 1);
        assert_int_equal(owner[i], -1);
        owner[i] = number;
    }
    range[number].first = first;
    range[number].length = length;
}

static void
disown(int number)
{
    for (uint32_t i = 0; i < range[number].length; i++)
        owner[range[number].first + i] = -1;
    range[number].length = 0;
}

static void
write_all(int number)
{
    for (uint32_t i = 0; i < range[number].length; i++)
        written[range[number].first + i] = true;
}

static void
try_to_take(int number)
{
    const uint32_t length = 1 + draw(draw(4) == 0 ? UNITS : 12);
    bool is_used, any_written = false;
    const uint32_t first = ar_units_take(&units, length, &is_used);
    assert_int_equal(first != AR_NO_UNIT, has_row(length));
    if (first == AR_NO_UNIT)
        return;
    own(number, first, length);
    for (uint32_t i = first; i < first + length; i++)
        any_written |= written[i];
    assert_true(is_used || !any_written); /* it may say so of more than was written */
}

static void
give(int number)
{
    const bool keeps_data = draw(2);
    for (uint32_t i = 0; i < range[number].length; i++)
        written[range[number].first + i] = keeps_data;
    ar_units_give(&units, range[number].first, keeps_data);
    disown(number);
}

static void
try_to_resize(int number)
{
    const uint32_t first = range[number].first, old = range[number].length;
    const uint32_t length = 1 + draw(2 * old);
    bool fits = first + length <= UNITS;
    for (uint32_t i = old; i < length && fits; i++)
        fits = owner[first + i] < 0;
    assert_int_equal(ar_units_resize(&units, first, length, true), fits);
    if (!fits)
        return;
    write_all(number);
    disown(number);
    own(number, first, length);
    write_all(number);
}

/* What the units say of all of them is what the model says. */
static void
compare(void)
{
    uint32_t taken = 0, at = 0;
    for (uint32_t i = 0; i < UNITS; i++) {
        const bool begins = owner[i] >= 0 && range[owner[i]].first == i;
        assert_int_equal(ar_units_length(&units, i), begins ? range[owner[i]].length : 0);
        taken += begins;
    }
    while ((at = ar_units_next_taken(&units, at)) != AR_NO_UNIT) {
        at += ar_units_length(&units, at);
        taken--;
    }
    assert_int_equal(taken, 0);
}

static void
any_order_of_calls_does_what_the_model_does(void **unused)
{
    (void)unused;
    for (int step = 0; step < STEPS; step++) {
        if (step % 500 == 0) /* at first much is beyond the top */
            begin();
        const int number = (int)draw(RANGES);
        if (range[number].length == 0)
            try_to_take(number);
        else if (draw(3) == 0)
            try_to_resize(number);
        else {
            write_all(number);
            give(number);
        }
        if (step % 16 == 0)
            compare();
    }
}

static void
all_that_is_given_back_is_one_range_again(void **unused)
{
    uint32_t first[UNITS];
    bool is_used;
    (void)unused;
    begin();
    for (int i = 0; i < UNITS; i++)
        first[i] = ar_units_take(&units, 1, &is_used);
    assert_int_equal(ar_units_take(&units, 1, &is_used), AR_NO_UNIT);
    for (int i = 0; i < UNITS; i += 2)
        ar_units_give(&units, first[i], true);
    assert_int_equal(ar_units_take(&units, 2, &is_used), AR_NO_UNIT);
    for (int i = 1; i < UNITS; i += 2)
        ar_units_give(&units, first[i], false);
    assert_int_equal(ar_units_take(&units, UNITS, &is_used), 0);
    assert_true(is_used);
}

static void
what_was_never_taken_is_not_used(void **unused)
{
    bool is_used = true;
    (void)unused;
    begin();
    const uint32_t first = ar_units_take(&units, 10, &is_used);
    assert_false(is_used);
    ar_units_give(&units, first, false);
    ar_units_take(&units, 10, &is_used);
    assert_false(is_used);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_order_of_calls_does_what_the_model_does),
        cmocka_unit_test(all_that_is_given_back_is_one_range_again),
        cmocka_unit_test(what_was_never_taken_is_not_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
