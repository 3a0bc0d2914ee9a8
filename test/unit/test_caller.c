/* Call sites are the program's, whatever bindings a call comes through. */
#include <config.h> /* _GNU_SOURCE */

#include <dlfcn.h>
#include <errno.h> /* program_invocation_short_name */
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/caller.h"
#include "unit.h"

/* A function of the shim, whose caller is the program or a binding. */
static __attribute__((noinline)) int
shim(void)
{
    const struct ar_caller caller = AR_CALLER;
    const int number = ar_caller_find(&caller, AR_ENTRY_ALLREDUCE);
    __asm__ volatile(""); /* a call that does not end the function leaves its frame where it is */
    return number;
}

static volatile int twice = 2; /* so that loops are not unrolled, which would make several places */

static int (*through_one)(int (*next)(void));
static int (*through_two)(int (*next)(void));

static void
expect_own_site(int number)
{
    const struct ar_site *const site = ar_caller_site(number);
    assert_string_equal(ar_module_name(site->module), program_invocation_short_name);
    assert_int_equal(site->entry, AR_ENTRY_ALLREDUCE);
}

static void
each_place_is_a_site(void **state)
{
    (void)state;
    int first[2], second = 0;
    for (int i = 0; i < twice; i++)
        first[i] = shim();
    second = shim();
    expect_own_site(first[0]);
    expect_own_site(second);
    assert_int_equal(first[0], first[1]);
    assert_int_not_equal(first[0], second);
}

/* One binding's function, which calls the shim from the same place, is met behind another one and
 * alone, in either order. */
static void
a_binding_is_no_site_alone_or_behind_another(void **state)
{
    (void)state;
    int alone[2], behind[2];
    for (int i = 0; i < twice; i++) {
        behind[i] = through_two(shim);
        alone[i] = through_one(shim);
    }
    for (int i = 0; i < 2; i++) {
        expect_own_site(behind[i]);
        expect_own_site(alone[i]);
    }
    assert_int_equal(behind[0], behind[1]);
    assert_int_equal(alone[0], alone[1]);
    assert_int_not_equal(alone[0], behind[0]);
}

static const char binding_file[] = "test/unit/.libs/libmpi_binding.so";

/* The plug-in calls from where its function is, which is told. */
static int
call_from(const char *name, const void **where)
{
    char path[256];
    int (*through)(int (*next)(void));
    snprintf(path, sizeof path, "./%s", name);
    void *const plugin = dlopen(path, RTLD_NOW);
    assert_non_null(plugin);
    void *const one = dlsym(plugin, "binding_one");
    memcpy(&through, &one, sizeof one);
    *where = one;
    const int number = through(shim);
    assert_int_equal(dlclose(plugin), 0);
    return number;
}

static void
copy(const char *name)
{
    char command[512];
    snprintf(command, sizeof command, "cp %s %s", binding_file, name);
    assert_int_equal(system(command), 0);
}

static void
a_plugin_where_another_one_was_is_another_site(void **state)
{
    static const char *const names[] = {"test_caller_a.so", "test_caller_b.so"};
    const void *where[3];
    int number[3];
    (void)state;
    copy(names[0]);
    copy(names[1]);
    for (int i = 0; i < 3; i++)
        number[i] = call_from(names[i % 2], &where[i]);
    unlink(names[0]);
    unlink(names[1]);
    if (where[0] != where[1])
        skip(); /* the loader took another place */
    assert_string_equal(ar_module_name(ar_caller_site(number[0])->module), names[0]);
    assert_string_equal(ar_module_name(ar_caller_site(number[1])->module), names[1]);
    assert_int_equal(number[2], number[0]);
}

static int asked; /* the dynamic linker, in place of whose function this one is */

int
dl_iterate_phdr(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data)
{
    int (*next)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
    void *const symbol = dlsym(RTLD_NEXT, "dl_iterate_phdr");
    memcpy(&next, &symbol, sizeof symbol);
    asked++;
    return next(callback, data);
}

static int from_libc;

/* Also a function of the shim, whose caller is a library of the start. */
static int
compare(const void *a, const void *b)
{
    const struct ar_caller caller = AR_CALLER;
    (void)a;
    (void)b;
    from_libc = ar_caller_find(&caller, AR_ENTRY_ALLREDUCE);
    return 0;
}

static void
only_what_was_opened_is_asked_for_in_each_call(void **state)
{
    (void)state;
    int numbers[2] = {0}, of_start = 0, of_opened = 0;
    for (int i = 0; i < twice; i++) {
        const int before = asked;
        shim();
        qsort(numbers, 2, sizeof *numbers, compare);
        of_start = asked - before;
        through_one(shim);
        of_opened = asked - before - of_start;
    }
    const char *const name = ar_module_name(ar_caller_site(from_libc)->module);
    assert_string_not_equal(name, "");
    assert_string_not_equal(name, program_invocation_short_name);
    assert_int_equal(of_start, 0);
    assert_int_equal(of_opened, 1);
}

static int
set_up(void **state)
{
    void *const binding = dlopen(binding_file, RTLD_NOW);
    (void)state;
    if (!binding)
        return -1;
    void *const one = dlsym(binding, "binding_one"), *const two = dlsym(binding, "binding_two");
    memcpy(&through_one, &one, sizeof one);
    memcpy(&through_two, &two, sizeof two);
    return one && two ? 0 : -1;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_place_is_a_site),
        cmocka_unit_test(a_binding_is_no_site_alone_or_behind_another),
        cmocka_unit_test(a_plugin_where_another_one_was_is_another_site),
        cmocka_unit_test(only_what_was_opened_is_asked_for_in_each_call),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
