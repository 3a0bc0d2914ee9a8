/* The folder of ALLREDUCE_CACHE: threads of one process may write the same file, and anybody may
 * have edited it. */
#include <config.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "communicator/cache.h"
#include "unit.h"

enum { THREADS = 8, WRITES = 100 };

static char folder[32];
static const struct ar_cache_key key = {.number = 7, .nranks = 4, .nodes = 2};

static void *
write_often(void *unused)
{
    (void)unused;
    for (int i = 0; i < WRITES; i++)
        ar_cache_write(folder, &key, "a test's", "ring:0-1K;shm");
    return NULL;
}

static void
make_folder(void)
{
    snprintf(folder, sizeof folder, "test_cache_XXXXXX");
    assert_non_null(mkdtemp(folder));
}

/* Nothing but the file of the key may be there. */
static void
remove_folder(const struct ar_cache_key *of)
{
    char name[128];
    snprintf(name, sizeof name, "%s/auto-%s-4-%016x%s.rules", folder, PACKAGE_VERSION, 7U,
             of->in_order ? "-in-order" : "");
    assert_int_equal(unlink(name), 0);
    assert_int_equal(rmdir(folder), 0);
}

/* What goes to stderr meanwhile is a warning. */
static void
threads_write_one_file_without_a_warning(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    FILE *const said = tmpfile();
    const int terminal = dup(STDERR_FILENO);
    assert_non_null(said);
    make_folder();
    dup2(fileno(said), STDERR_FILENO);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_often, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    dup2(terminal, STDERR_FILENO);
    close(terminal);
    fseek(said, 0, SEEK_END);
    const long length = ftell(said);
    fclose(said);
    char *const rules = ar_cache_read(folder, &key, NULL);
    remove_folder(&key);
    assert_string_equal(rules, "ring:0-1K;shm");
    free(rules);
    assert_int_equal(length, 0);
}

static bool
serves(bool in_order, const bool *allowed, const char *rules)
{
    struct ar_cache_key of = key;
    of.in_order = in_order;
    make_folder();
    ar_cache_write(folder, &of, "a test's", rules);
    char *const read = ar_cache_read(folder, &of, allowed);
    remove_folder(&of);
    free(read);
    return read;
}

/* Not native, which would stay unseen, not auto, which is no algorithm, nothing that the list
 * leaves out, and for ops that do not commute nothing that changes the order. */
static void
only_what_auto_may_choose_is_taken_from_a_file(void **state)
{
    bool *const allowed = calloc(ar_algorithm_count(), sizeof *allowed);
    (void)state;
    assert_non_null(allowed);
    for (size_t i = 0; i < ar_algorithm_count(); i++)
        allowed[i] = ar_algorithm_at(i) != ar_algorithm_find("star", 4);
    assert_true(serves(false, NULL, "ring:0-1K;rhd"));
    assert_false(serves(false, NULL, "ring:0-1K;auto"));
    assert_false(serves(false, NULL, "native:0-1K;ring"));
    assert_true(serves(false, NULL, "star"));
    assert_false(serves(false, allowed, "star"));
    assert_true(serves(true, NULL, "rhd"));
    assert_false(serves(true, NULL, "ring"));
    assert_false(serves(true, NULL, "recursive(distance=halving):0-1K;rhd"));
    free(allowed);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_write_one_file_without_a_warning),
        cmocka_unit_test(only_what_auto_may_choose_is_taken_from_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
