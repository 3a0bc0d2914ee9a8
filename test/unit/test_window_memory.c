/* What a process tells of a window leads its peers to the same bytes where they have mapped them,
 * and to none where they know no such window or do not have all of these bytes. */
#include <config.h>
#include <pthread.h>
#include <string.h>

#include "execute/window_memory.h"
#include "unit.h"

/* Handles of windows, of any MPI. */
static MPI_Win
win(int number)
{
    return (MPI_Win)(intptr_t)number;
}

static char here[1000], there[1000]; /* the windows' memory, as two processes have mapped it */

enum { EMPTY = 0, NPARTS = 5 };

/* Of ranks whose memory is one after the other, but for a gap of 100 before that of the last. */
static const struct {
    size_t begin, bytes;
} layout[NPARTS] = {{0, 200}, {0, EMPTY}, {200, 100}, {300, 300}, {700, 100}};

static void
note(int number, char *memory)
{
    struct ar_window_part parts[NPARTS];
    for (int i = 0; i < NPARTS; i++)
        parts[i] = (struct ar_window_part){memory + layout[i].begin, layout[i].bytes};
    assert_true(ar_window_note(win(number), (uint64_t)number << 40, parts, NPARTS));
}

static const struct ar_peer_memory *const memory = &ar_window_memory;

/* Where the other process finds these bytes of here; NULL where there is no place of them.  Of more
 * than a place is of it finds none. */
static const char *
find_there(size_t begin, size_t bytes)
{
    note(1, here);
    const struct ar_peer_place place = memory->show(here + begin, bytes);
    ar_window_forget(win(1));
    if (!place.word[0])
        return NULL;
    note(1, there);
    const char *const found = memory->map(NULL, &place, bytes);
    assert_non_null(found);
    assert_null(memory->map(NULL, &place, SIZE_MAX));
    assert_null(memory->map(NULL, &place, sizeof there));
    ar_window_forget(win(1));
    return found;
}

/* --- tests --- */

static void
bytes_are_found_if_the_window_has_all_of_them(void **state)
{
    (void)state;
    for (size_t begin = 0; begin < sizeof here; begin += 25)
        for (size_t bytes = 25; bytes <= sizeof here - begin; bytes += 25) {
            const size_t end = begin + bytes;
            const bool is_there = end <= 600 || (begin >= 700 && end <= 800);
            assert_ptr_equal(find_there(begin, bytes), is_there ? there + begin : NULL);
        }
    assert_null(find_there(0, SIZE_MAX));
    assert_null(find_there(500, SIZE_MAX - 100));
}

/* There, rank 3's memory does not follow that of rank 2. */
static void
bytes_in_two_parts_are_found_only_where_these_are_joined(void **state)
{
    (void)state;
    note(1, here);
    const struct ar_peer_place joined = memory->show(here + 250, 100);
    const struct ar_peer_place single = memory->show(here + 250, 50);
    ar_window_forget(win(1));
    struct ar_window_part parts[NPARTS] = {
        {there, 300}, {NULL, 0}, {there + 400, 100}, {there + 600, 300}, {there + 500, 100}};
    assert_true(ar_window_note(win(1), UINT64_C(1) << 40, parts, NPARTS));
    assert_true(joined.word[0]);
    assert_null(memory->map(NULL, &joined, 100));
    assert_ptr_equal(memory->map(NULL, &single, 50), there + 450);
    ar_window_forget(win(1));
}

static void
a_window_of_another_number_is_another_one(void **state)
{
    (void)state;
    note(1, here);
    const struct ar_peer_place place = memory->show(here, 10);
    ar_window_forget(win(1));
    note(2, here);
    const struct ar_peer_place other = memory->show(here, 10);
    assert_null(memory->map(NULL, &place, 10));
    assert_memory_not_equal(&place, &other, sizeof place);
    ar_window_forget(win(2));
}

static void
a_window_of_fewer_ranks_has_no_such_part(void **state)
{
    (void)state;
    note(1, here);
    const struct ar_peer_place place = memory->show(here + 700, 10);
    ar_window_forget(win(1));
    const struct ar_window_part part = {here, sizeof here};
    assert_true(ar_window_note(win(1), UINT64_C(1) << 40, &part, 1));
    assert_null(memory->map(NULL, &place, 10));
    ar_window_forget(win(1));
}

/* In any order; what is unknown is none. */
static void
windows_are_forgotten_one_by_one(void **state)
{
    (void)state;
    struct ar_peer_card card;
    assert_false(memory->introduce(&card));
    note(1, here);
    note(2, there);
    assert_true(memory->introduce(&card));
    ar_window_forget(win(3));
    ar_window_forget(win(1));
    assert_int_equal(memory->show(here, 10).word[0], 0);
    assert_int_equal(memory->show(there + 200, 10).word[0], 3);
    assert_int_equal(memory->show(there + 200, 10).word[1], UINT64_C(2) << 40);
    ar_window_forget(win(2));
    assert_false(memory->introduce(&card));
    assert_int_equal(memory->show(there, 10).word[0], 0);
}

/* --- threads --- */

enum { WINDOWS = 3000 };

static void *
note_and_forget(void *number)
{
    const int mine = *(const int *)number;
    for (int i = 0; i < WINDOWS; i++) {
        note(mine, here);
        ar_window_forget(win(mine));
    }
    return NULL;
}

static void
a_window_stays_while_threads_note_and_forget_others(void **state)
{
    (void)state;
    enum { THREADS = 2 };
    pthread_t threads[THREADS];
    int numbers[THREADS];
    note(9, there);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = 1 + i;
        assert_int_equal(pthread_create(&threads[i], NULL, note_and_forget, &numbers[i]), 0);
    }
    for (int i = 0; i < WINDOWS; i++) {
        const struct ar_peer_place place = memory->show(there + 710, 20);
        assert_int_equal(place.word[0], 5);
        assert_ptr_equal(memory->map(NULL, &place, 20), there + 710);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ar_window_forget(win(9));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_found_if_the_window_has_all_of_them),
        cmocka_unit_test(bytes_in_two_parts_are_found_only_where_these_are_joined),
        cmocka_unit_test(a_window_of_another_number_is_another_one),
        cmocka_unit_test(a_window_of_fewer_ranks_has_no_such_part),
        cmocka_unit_test(windows_are_forgotten_one_by_one),
        cmocka_unit_test(a_window_stays_while_threads_note_and_forget_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
