/* Copies of bytes. */
#include <stdlib.h>
#include <string.h>

#include "reduce/copy.h"
#include "unit.h"

#define ROOM ((size_t)3 << 20)

static unsigned char *from, *to;

static int
set_up(void **state)
{
    (void)state;
    from = malloc(ROOM);
    to = malloc(ROOM);
    for (size_t i = 0; from && i < ROOM; i++)
        from[i] = (unsigned char)(i * 2654435761u >> 13 | 1);
    return from && to ? 0 : -1;
}

static int
tear_down(void **state)
{
    (void)state;
    free(from);
    free(to);
    return 0;
}

typedef void copy_function(void *dst, const void *src, size_t bytes);

/* Zeros stay zeros before and behind what is copied, which has none. */
static void
expect_copy(copy_function *copy, size_t at, size_t of, size_t bytes)
{
    const size_t margin = 256;
    memset(to, 0, at + bytes + margin);
    copy(to + at, from + of, bytes);
    for (size_t i = 0; i < at; i++)
        assert_int_equal(to[i], 0);
    assert_memory_equal(to + at, from + of, bytes);
    for (size_t i = at + bytes; i < at + bytes + margin; i++)
        assert_int_equal(to[i], 0);
}

static void
a_copy_has_all_bytes_and_no_more(void **state)
{
    static const size_t lengths[] = {0, 1, 63, 64, 127, 2047, 2048, 2049, 2175, 2176, 4096, 65613};
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        for (size_t at = 0; at < 130; at += 13)
            for (size_t of = 0; of < 130; of += 17) {
                expect_copy(ar_copy_bytes, at, of, lengths[i]);
                expect_copy(ar_copy_streaming, at, of, lengths[i]);
            }
}

static void
long_ones_are_copied_too(void **state)
{
    const size_t limit = (size_t)1 << 20;
    (void)state;
    expect_copy(ar_copy_bytes, 1, 3, limit - 1);
    expect_copy(ar_copy_bytes, 1, 3, limit);
    expect_copy(ar_copy_bytes, 1, 3, limit + 1);
    expect_copy(ar_copy_bytes, 1, 3, 2 * limit);
    expect_copy(ar_copy_streaming, 1, 3, 2 * limit);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_has_all_bytes_and_no_more),
        cmocka_unit_test(long_ones_are_copied_too),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
