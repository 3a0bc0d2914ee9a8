/* Memory that ranks share is accessible to no other user, and is gone when it is hidden. */
#include <config.h> /* _GNU_SOURCE */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "execute/shared.h"
#include "unit.h"

#define BYTES 4096

static const struct ar_shared_parts parts[] = {{0, BYTES, BYTES, 1}};

/* Looks at its file in /dev/shm: 0, with about filled, or errno. */
static int
look(const struct ar_shared *shared, struct stat *about)
{
    char path[64];
    snprintf(path, sizeof path, "/dev/shm/liballreduce-%016" PRIx64, shared->number);
    return stat(path, about) ? errno : 0;
}

static void
what_one_stores_another_who_is_told_loads(void **state)
{
    (void)state;
    for (int by_name = 0; by_name < 2; by_name++) {
        struct ar_shared shared;
        char *const one = ar_shared_make(&shared, by_name, BYTES, parts, 1);
        assert_non_null(one);
        char *const other = ar_shared_open(&shared, BYTES, parts, 1);
        assert_non_null(other);
        assert_ptr_not_equal(one, other);
        one[BYTES - 1] = 'x';
        assert_int_equal(other[BYTES - 1], 'x');
        ar_shared_hide(&shared);
        assert_null(ar_shared_open(&shared, BYTES, parts, 1));
        munmap(one, BYTES);
        munmap(other, BYTES);
    }
}

static void
a_file_of_memory_is_this_users_alone_and_goes(void **state)
{
    struct ar_shared shared;
    struct stat about;
    const mode_t before = umask(0);
    (void)state;
    void *const memory = ar_shared_make(&shared, true, BYTES, parts, 1);
    umask(before);
    assert_non_null(memory);
    assert_int_equal(look(&shared, &about), 0);
    assert_int_equal(about.st_mode & 07777, 0600);
    assert_int_equal(about.st_uid, geteuid());
    ar_shared_hide(&shared);
    assert_int_equal(look(&shared, &about), ENOENT);
    munmap(memory, BYTES);
}

static void
memory_without_a_name_has_no_file_and_is_closed_at_exec(void **state)
{
    struct ar_shared shared;
    struct stat about;
    (void)state;
    void *const memory = ar_shared_make(&shared, false, BYTES, parts, 1);
    assert_non_null(memory);
    assert_int_equal(look(&shared, &about), ENOENT);
    assert_int_equal(fcntl(shared.fd, F_GETFD), FD_CLOEXEC);
    ar_shared_hide(&shared);
    munmap(memory, BYTES);
}

/* In either way of making it, and for who opens it. */
static void
the_standard_descriptors_stay_closed(void **state)
{
    (void)state;
    for (int by_name = 0; by_name < 2; by_name++) {
        struct ar_shared shared;
        const int kept = dup(STDIN_FILENO);
        assert_true(kept > STDERR_FILENO);
        close(STDIN_FILENO);
        void *const one = ar_shared_make(&shared, by_name, BYTES, parts, 1);
        void *const other = one ? ar_shared_open(&shared, BYTES, parts, 1) : NULL;
        const bool is_closed = fcntl(STDIN_FILENO, F_GETFD) < 0;
        dup2(kept, STDIN_FILENO);
        close(kept);
        assert_true(one && other && is_closed);
        assert_true(by_name || shared.fd > STDERR_FILENO);
        ar_shared_hide(&shared);
        munmap(one, BYTES);
        munmap(other, BYTES);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_one_stores_another_who_is_told_loads),
        cmocka_unit_test(a_file_of_memory_is_this_users_alone_and_goes),
        cmocka_unit_test(memory_without_a_name_has_no_file_and_is_closed_at_exec),
        cmocka_unit_test(the_standard_descriptors_stay_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
