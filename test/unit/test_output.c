/* Files that we write are complete or absent, whatever happens meanwhile. */
#include <config.h> /* _GNU_SOURCE */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "config/output.h"
#include "unit.h"

static const char old[] = "the old one\n";
#define TEMPLATE "/tmp/ar_test_output_XXXXXX"
static char here[] = TEMPLATE;
static char path[sizeof here + 16];

/* --- the system, as these tests want it --- */

static bool has_unnamed = true; /* whether files can be made without a name */
static int dies_in = -1;        /* calls until the one before which the writer is killed */

static void
come_to_call(void)
{
    if (dies_in == 0)
        raise(SIGKILL);
    dies_in -= dies_in > 0;
}

/* These replace the C library's.
 * NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */
int
openat(int folder, const char *name, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    const mode_t mode = va_arg(list, mode_t);
    va_end(list);
    come_to_call();
    if (!has_unnamed && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return (int)syscall(SYS_openat, folder, name, flags, mode);
}

ssize_t
write(int fd, const void *text, size_t length)
{
    come_to_call();
    return syscall(SYS_write, fd, text, length);
}

int
linkat(int from, const char *old_name, int to, const char *new_name, int flags)
{
    come_to_call();
    return (int)syscall(SYS_linkat, from, old_name, to, new_name, flags);
}

int
renameat(int from, const char *old_name, int to, const char *new_name)
{
    come_to_call();
    return (int)syscall(SYS_renameat2, from, old_name, to, new_name, 0);
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

/* --- the folder --- */

static int
make_folder(void **state)
{
    (void)state;
    snprintf(here, sizeof here, "%s", TEMPLATE);
    assert_non_null(mkdtemp(here));
    snprintf(path, sizeof path, "%s/file", here);
    has_unnamed = true;
    return 0;
}

/* Removes what is in the folder; returns how many files it was. */
static int
empty_folder(void)
{
    DIR *const folder = opendir(here);
    int n = 0;
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            n++;
            assert_int_equal(unlinkat(dirfd(folder), entry->d_name, 0), 0);
        }
    closedir(folder);
    return n;
}

static int
remove_folder(void **state)
{
    (void)state;
    empty_folder();
    return rmdir(here);
}

static void
put_old(void)
{
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    fputs(old, file);
    assert_int_equal(fclose(file), 0);
}

/* The content, of at most 100 kB; "" if there is none. */
static const char *
content(const char *name)
{
    static char text[100001];
    FILE *const file = fopen(name, "r");
    const size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[n] = '\0';
    if (file)
        fclose(file);
    return text;
}

/* --- what is written --- */

#define LINES 2000 /* more than the C library buffers */

static void
write_lines(struct ar_output *output)
{
    for (int i = 0; i < LINES; i++)
        fprintf(output->file, "line %d\n", i);
}

static void
expect_lines(const char *name)
{
    const char *at = content(name);
    char line[32];
    for (int i = 0; i < LINES; i++) {
        const int length = snprintf(line, sizeof line, "line %d\n", i);
        assert_memory_equal(at, line, (size_t)length);
        at += length;
    }
    assert_int_equal(*at, '\0');
}

static int
write_path(const char *name)
{
    struct ar_output output;
    const int error = ar_output_begin(&output, name);
    if (error)
        return error;
    write_lines(&output);
    return ar_output_end(&output);
}

/* --- the tests --- */

static void
a_file_is_there_when_it_is_whole_and_not_before(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) {
        struct ar_output output;
        has_unnamed = way < 2;
        empty_folder();
        if (way % 2)
            put_old();
        assert_int_equal(ar_output_begin(&output, path), 0);
        write_lines(&output);
        fflush(output.file);
        assert_string_equal(content(path), way % 2 ? old : "");
        assert_int_equal(ar_output_end(&output), 0);
        expect_lines(path);
        assert_int_equal(empty_folder(), 1);
    }
}

static void
what_is_printed_to_a_closed_descriptor_does_not_get_into_it(void **state)
{
    (void)state;
    for (int way = 0; way < 2; way++) {
        struct ar_output output;
        has_unnamed = way;
        const int kept = dup(STDIN_FILENO);
        assert_true(kept > STDERR_FILENO);
        close(STDIN_FILENO);
        const int error = ar_output_begin(&output, path);
        const bool is_closed = fcntl(STDIN_FILENO, F_GETFD) < 0;
        dup2(kept, STDIN_FILENO);
        close(kept);
        assert_true(error == 0 && is_closed);
        write_lines(&output);
        assert_int_equal(ar_output_end(&output), 0);
        expect_lines(path);
    }
}

static void
what_is_dropped_leaves_the_old_file(void **state)
{
    (void)state;
    for (int way = 0; way < 2; way++) {
        struct ar_output output;
        has_unnamed = way;
        put_old();
        assert_int_equal(ar_output_begin(&output, path), 0);
        write_lines(&output);
        ar_output_drop(&output);
        assert_string_equal(content(path), old);
        assert_int_equal(empty_folder(), 1);
    }
}

static void
a_new_files_mode_is_by_umask(void **state)
{
    static const mode_t masks[] = {0, 022, 077};
    struct stat about;
    const mode_t before = umask(0);
    (void)state;
    for (size_t i = 0; i < 2 * sizeof masks / sizeof *masks; i++) {
        has_unnamed = i % 2;
        umask(masks[i / 2]);
        assert_int_equal(write_path(path), 0);
        assert_int_equal(stat(path, &about), 0);
        assert_int_equal(about.st_mode & 07777, 0666 & ~masks[i / 2]);
        empty_folder();
    }
    umask(before);
}

static void
a_link_is_replaced_and_not_followed(void **state)
{
    char target[sizeof path];
    struct stat about;
    (void)state;
    snprintf(target, sizeof target, "%s/target", here);
    for (int is_there = 0; is_there < 2; is_there++) {
        if (is_there) {
            put_old();
            assert_int_equal(rename(path, target), 0);
        }
        assert_int_equal(symlink(target, path), 0);
        assert_int_equal(write_path(path), 0);
        assert_int_equal(lstat(path, &about), 0);
        assert_true(S_ISREG(about.st_mode));
        expect_lines(path);
        assert_string_equal(content(target), is_there ? old : "");
        empty_folder();
    }
}

static void
a_path_that_cannot_be_is_refused_at_once(void **state)
{
    char name[sizeof path + 8];
    (void)state;
    assert_int_equal(write_path(here), EISDIR);
    assert_int_equal(write_path(""), ENOENT);
    snprintf(name, sizeof name, "%s/no/file", here);
    assert_int_equal(ar_output_check(name), ENOENT);
    assert_int_equal(write_path(name), ENOENT);
    put_old();
    snprintf(name, sizeof name, "%s/x", path);
    assert_int_equal(write_path(name), ENOTDIR);
    assert_int_equal(write_path("/dev/fd/987"), EBADF);
    assert_int_equal(empty_folder(), 1);
    if (geteuid() != 0) {
        put_old();
        assert_int_equal(chmod(path, 0444), 0);
        assert_int_equal(write_path(path), EACCES);
        assert_string_equal(content(path), old);
    }
}

static void
devices_and_descriptors_are_written_to_directly(void **state)
{
    char name[sizeof path];
    (void)state;
    assert_int_equal(write_path("/dev/null"), 0);
    assert_true(ar_output_is_direct("/dev/null"));
    assert_true(ar_output_is_direct("/dev/stdout"));
    assert_false(ar_output_is_direct(path));
    const int fd = open(path, O_RDWR | O_CREAT, 0600);
    assert_true(fd >= 0);
    assert_int_equal(syscall(SYS_write, fd, "before\n", 7), 7);
    snprintf(name, sizeof name, "/dev/fd/%d", fd);
    assert_int_equal(write_path(name), 0);
    close(fd);
    assert_memory_equal(content(path), "before\nline 0\n", 14);
}

static void
a_fifo_has_a_reader_or_is_an_error_at_once(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(write_path(path), ENXIO);
    const pid_t child = fork();
    if (child == 0) {
        dies_in = -1;
        while (write_path(path) == ENXIO)
            usleep(1000);
        _exit(0);
    }
    expect_lines(path);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

/* The reader is this process, which has closed its end before anything is written. */
static int
write_without_reader(void)
{
    struct ar_output output;
    const int reader = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_int_equal(ar_output_begin(&output, path), 0);
    close(reader);
    write_lines(&output);
    return ar_output_end(&output);
}

static void
a_reader_that_ends_early_is_an_error_and_no_signal(void **state)
{
    sigset_t it, before, pending;
    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(write_without_reader(), EPIPE);
    sigemptyset(&it);
    sigaddset(&it, SIGPIPE);
    sigprocmask(SIG_BLOCK, &it, &before);
    for (int was_pending = 0; was_pending < 2; was_pending++) {
        if (was_pending)
            raise(SIGPIPE);
        assert_int_equal(write_without_reader(), EPIPE);
        sigpending(&pending);
        assert_int_equal(sigismember(&pending, SIGPIPE), was_pending);
    }
    sigtimedwait(&it, NULL, &(struct timespec){.tv_sec = 0});
    sigprocmask(SIG_SETMASK, &before, NULL);
}

static void
a_full_disk_is_told_and_leaves_the_old_file(void **state)
{
    const struct rlimit little = {5000, RLIM_INFINITY};
    struct rlimit before;
    (void)state;
    assert_int_equal(write_path("/dev/full"), ENOSPC);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    for (int way = 0; way < 2; way++) {
        has_unnamed = way;
        put_old();
        setrlimit(RLIMIT_FSIZE, &little);
        const int error = write_path(path);
        setrlimit(RLIMIT_FSIZE, &before);
        assert_int_equal(error, EFBIG);
        assert_string_equal(content(path), old);
        assert_int_equal(empty_folder(), 1);
    }
}

/* Kills a process before its n-th system call that could leave something behind.  False if there
 * was no such call. */
static bool
kill_at(int n)
{
    int status;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dies_in = n;
        _exit(write_path(path));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status))
        return true;
    assert_int_equal(WEXITSTATUS(status), 0);
    return false;
}

static void
whoever_is_killed_leaves_a_whole_file_or_none(void **state)
{
    (void)state;
    for (int was_there = 0; was_there < 2; was_there++) {
        int n = 0, left = 0;
        for (bool goes_on = true; goes_on; n++) {
            empty_folder();
            if (was_there)
                put_old();
            goes_on = kill_at(n);
            const bool is_new = access(path, F_OK) == 0 && strcmp(content(path), old) != 0;
            if (is_new)
                expect_lines(path);
            assert_true(is_new || goes_on);
            left += empty_folder() - (was_there || is_new);
        }
        assert_true(n > 5);
        /* The whole new one under a name of its own, between the two calls that replace an old one.
         */
        assert_int_equal(left, was_there);
    }
}

/* Ten writers at the same time, and one reader. */
static void
who_reads_finds_one_writers_whole_file(void **state)
{
    pid_t writers[10];
    (void)state;
    assert_int_equal(write_path(path), 0);
    for (int i = 0; i < 10; i++) {
        writers[i] = fork();
        if (writers[i] == 0) {
            int error = 0;
            has_unnamed = i % 2;
            for (int k = 0; k < 10 && !error; k++)
                error = write_path(path);
            _exit(error);
        }
    }
    for (int i = 0; i < 100; i++)
        expect_lines(path);
    for (int i = 0; i < 10; i++) {
        int status;
        assert_int_equal(waitpid(writers[i], &status, 0), writers[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(empty_folder(), 1);
}

int
main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        TEST(a_file_is_there_when_it_is_whole_and_not_before),
        TEST(what_is_printed_to_a_closed_descriptor_does_not_get_into_it),
        TEST(what_is_dropped_leaves_the_old_file),
        TEST(a_new_files_mode_is_by_umask),
        TEST(a_link_is_replaced_and_not_followed),
        TEST(a_path_that_cannot_be_is_refused_at_once),
        TEST(devices_and_descriptors_are_written_to_directly),
        TEST(a_fifo_has_a_reader_or_is_an_error_at_once),
        TEST(a_reader_that_ends_early_is_an_error_and_no_signal),
        TEST(a_full_disk_is_told_and_leaves_the_old_file),
        TEST(whoever_is_killed_leaves_a_whole_file_or_none),
        TEST(who_reads_finds_one_writers_whole_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
