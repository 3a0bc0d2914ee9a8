/* Limits of CPU time, read from made-up cgroups. */
#include <stdio.h>
#include <stdlib.h>

#include "cores/quota.h"
#include "topology.h"
#include "unit.h"

static char root[32];

static int
make(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "test_quota_XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int
clear(void **state)
{
    (void)state;
    topology_remove(root);
    return 0;
}

static void
put(const char *name, const char *text)
{
    topology_put(root, name, text);
}

static void
expect(int cpus)
{
    assert_int_equal(ar_cpu_quotas_find(root).of[0].cpus, cpus);
}

static uint64_t
least_cgroup(void)
{
    return ar_cpu_quotas_find(root).of[0].cgroup;
}

#define V2 "30 22 0:27 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw"

static void
a_system_without_cgroups_has_no_limit(void **state)
{
    (void)state;
    expect(0);
    put("proc/self/mountinfo", V2);
    expect(0);
    put("proc/self/cgroup", "0::/user/app");
    expect(0);
    put("sys/fs/cgroup/user/app/cpu.max", "max 100000");
    expect(0);
    put("sys/fs/cgroup/user/app/cpu.max", "nonsense");
    expect(0);
    put("sys/fs/cgroup/user/app/cpu.max", "100000 0");
    expect(0);
}

static void
the_least_limit_of_a_cgroup_and_those_above_counts(void **state)
{
    (void)state;
    put("proc/self/mountinfo", "25 1 8:1 / / rw - ext4 /dev/sda1 rw\n" V2);
    put("proc/self/cgroup", "0::/user/app");
    put("sys/fs/cgroup/user/app/cpu.max", "400000 100000");
    expect(4);
    const uint64_t own = least_cgroup();
    put("sys/fs/cgroup/user/cpu.max", "800000 100000");
    expect(4);
    assert_true(least_cgroup() == own);
    put("sys/fs/cgroup/user/cpu.max", "150000 100000");
    expect(2); /* rounded up */
    assert_true(least_cgroup() != own);
    put("sys/fs/cgroup/user/cpu.max", "400000 100000");
    expect(4);
    assert_true(least_cgroup() != own); /* the outermost of equal ones */
    put("sys/fs/cgroup/cpu.max", "1000 100000");
    expect(1);
}

static void
a_container_sees_its_limit_at_the_root(void **state)
{
    (void)state;
    put("sys/fs/cgroup/cpu.max", "200000 100000");
    put("proc/self/mountinfo", V2);
    put("proc/self/cgroup", "0::/");
    expect(2);
    put("proc/self/cgroup", "0::/../elsewhere"); /* the mount is another container's */
    expect(2);
    /* Without a namespace for cgroups the path is the host's, and so is the root of the mount. */
    put("proc/self/cgroup", "0::/docker/1234/app");
    put("proc/self/mountinfo",
        "30 22 0:27 /docker/1234 /sys/fs/cgroup ro - cgroup2 cgroup2 rw,nsdelegate");
    put("sys/fs/cgroup/app/cpu.max", "100000 100000");
    expect(1);
    put("proc/self/cgroup", "0::/docker/12345/app");
    expect(2);
}

static void
the_first_version_of_cgroups_has_a_hierarchy_for_the_cpu(void **state)
{
    (void)state;
    put("proc/self/mountinfo",
        "31 30 0:28 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
        "32 30 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
        "40 30 0:37 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw");
    put("proc/self/cgroup", "9:cpuset:/set\n4:cpu,cpuacct:/app\n0::/app");
    put("sys/fs/cgroup/cpuset/set/cpu.cfs_quota_us", "100000"); /* not where it counts */
    put("sys/fs/cgroup/cpuset/set/cpu.cfs_period_us", "100000");
    put("sys/fs/cgroup/cpu,cpuacct/app/cpu.cfs_period_us", "50000");
    expect(0);
    put("sys/fs/cgroup/cpu,cpuacct/app/cpu.cfs_quota_us", "-1");
    expect(0);
    put("sys/fs/cgroup/cpu,cpuacct/app/cpu.cfs_quota_us", "120000");
    expect(3);
}

/* From the innermost on. */
static void
expect_nested(int n, const int *cpus)
{
    const struct ar_cpu_quotas found = ar_cpu_quotas_find(root);
    assert_int_equal(found.n, n);
    for (int i = 0; i < n; i++)
        assert_int_equal(found.of[i].cpus, cpus[i]);
}

static void
limits_in_each_other_all_count(void **state)
{
    (void)state;
    put("proc/self/mountinfo", V2);
    put("proc/self/cgroup", "0::/a/b/c/d/e");
    put("sys/fs/cgroup/a/b/c/d/e/cpu.max", "200000 100000");
    put("sys/fs/cgroup/a/b/c/cpu.max", "400000 100000");
    expect_nested(2, (int[]){2, 4});
    put("sys/fs/cgroup/a/b/c/d/cpu.max", "500000 100000"); /* more than what it is in has */
    expect_nested(2, (int[]){2, 4});
    put("sys/fs/cgroup/a/b/cpu.max", "600000 100000");
    put("sys/fs/cgroup/a/cpu.max", "700000 100000");
    put("sys/fs/cgroup/cpu.max", "800000 100000"); /* one too many */
    expect_nested(AR_QUOTAS, (int[]){2, 4, 6, 8});
    put("sys/fs/cgroup/cpu.max", "200000 100000");
    expect_nested(1, (int[]){2});
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, clear)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_system_without_cgroups_has_no_limit),
        TEST(the_least_limit_of_a_cgroup_and_those_above_counts),
        TEST(a_container_sees_its_limit_at_the_root),
        TEST(limits_in_each_other_all_count),
        TEST(the_first_version_of_cgroups_has_a_hierarchy_for_the_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
