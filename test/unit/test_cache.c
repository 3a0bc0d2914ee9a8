/* The folder of ALLREDUCE_CACHE: threads of one process may write the same file. */
#include <config.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "communicator/cache.h"

enum { THREADS = 8, WRITES = 100 };

static char folder[] = "test_cache_XXXXXX";
static const struct ar_cache_key key = {.number = 7, .nranks = 4, .nodes = 2};

static void *
write_often(void *unused)
{
    (void)unused;
    for (int i = 0; i < WRITES; i++)
        ar_cache_write(folder, &key, "a test's", "ring:0-1K;shm");
    return NULL;
}

/* What goes to stderr meanwhile is a warning. */
static void
threads_write_one_file_without_a_warning(void **state)
{
    pthread_t threads[THREADS];
    char name[64];
    (void)state;
    FILE *const said = tmpfile();
    const int terminal = dup(STDERR_FILENO);
    assert_non_null(said);
    assert_non_null(mkdtemp(folder));
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
    char *const rules = ar_cache_read(folder, &key);
    snprintf(name, sizeof name, "%s/auto-%s-4-%016x.rules", folder, PACKAGE_VERSION, 7U);
    unlink(name);
    assert_int_equal(rmdir(folder), 0); /* nothing else was left there */
    assert_string_equal(rules, "ring:0-1K;shm");
    free(rules);
    assert_int_equal(length, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_write_one_file_without_a_warning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
