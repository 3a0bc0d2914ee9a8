/* The heap: blocks keep what is written, a child by fork has a copy, peers map it, and what the
 * system refuses is none. */
#include <config.h> /* _GNU_SOURCE */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "execute/heap_memory.h"
#include "unit.h"

#define LEAST  AR_HEAP_LEAST_BYTES
#define MIB    ((size_t)1 << 20)
#define KEPT   (64 * MIB) /* memory of blocks that were given back */
#define SPARSE (512 * MIB)

/* --- helpers --- */

/* How the child has ended, as waitpid tells it; -1: there is none. */
static int
end_of(pid_t child)
{
    int status = -1;
    return waitpid(child, &status, 0) == child ? status : -1;
}

/* Runs f in a child, which returns 0 if all is well. */
static void
assert_in_child(int (*f)(void))
{
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(f());
    assert_int_equal(end_of(child), 0);
}

/* The line of the condition that does not hold; a child's result. */
#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return __LINE__ % 255 + 1;                                                             \
    } while (0)

/* Memory of the heap's file. */
static size_t
resident(void)
{
    struct ar_heap_card card;
    struct stat about;
    if (!ar_heap_card(&card) || fstat(card.shared.fd, &about) != 0)
        return SIZE_MAX;
    return (size_t)about.st_blocks * 512;
}

/* The length of the heap's file. */
static size_t
file_bytes(void)
{
    struct ar_heap_card card;
    struct stat about;
    return ar_heap_card(&card) && fstat(card.shared.fd, &about) == 0 ? (size_t)about.st_size : 0;
}

/* How many bytes of such files are mapped so that they can be accessed. */
static size_t
accessible(void)
{
    FILE *const maps = fopen("/proc/self/maps", "re");
    char line[256];
    size_t begin, end, all = 0;
    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%zx-%zx rw-s", &begin, &end) == 2 && strstr(line, " rw-s ") &&
            strstr(line, "memfd:liballreduce"))
            all += end - begin;
    if (maps)
        fclose(maps);
    return all;
}

static bool
is_filled(const char *block, size_t bytes, char with)
{
    size_t i = 0;
    while (i < bytes && block[i] == with)
        i++;
    return i == bytes;
}

/* --- blocks --- */

static void
what_is_too_small_is_not_taken(void **state)
{
    (void)state;
    assert_null(ar_heap_take(0, AR_HEAP_ANY));
    assert_null(ar_heap_take(LEAST - 1, AR_HEAP_ANY));
    assert_null(ar_heap_take(SIZE_MAX, AR_HEAP_ANY));
    void *const block = ar_heap_take(LEAST, AR_HEAP_ANY);
    assert_non_null(block);
    assert_true(ar_heap_give(block));
}

static void
only_the_first_byte_of_a_block_tells_that_it_is_one(void **state)
{
    char on_stack[1];
    (void)state;
    char *const block = ar_heap_take(3 * LEAST, AR_HEAP_ANY);
    assert_int_equal(ar_heap_room(block), 3 * LEAST);
    assert_false(ar_heap_give(block + 1));
    assert_false(ar_heap_give(block + LEAST));
    assert_false(ar_heap_give(block + 2 * LEAST));
    assert_false(ar_heap_give(on_stack));
    assert_false(ar_heap_give(NULL));
    assert_true(ar_heap_give(block));
    assert_false(ar_heap_give(block));
    assert_int_equal(ar_heap_room(block), 0);
}

static void
zero_is_zero_whatever_was_there(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        char *const block = ar_heap_take(5 * LEAST, AR_HEAP_ZERO);
        assert_true(is_filled(block, 5 * LEAST, 0));
        memset(block, 'x', 5 * LEAST);
        assert_true(ar_heap_give(block));
    }
}

enum { BLOCKS = 24 };

static pthread_barrier_t start; /* so that they run at the same time */

struct worker {
    uint64_t state;
    int steps;
    char name;
    bool failed;
};

static uint32_t
draw(struct worker *w, uint32_t below)
{
    w->state = w->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(w->state >> 33) % below;
}

/* Takes, resizes and gives blocks at random, and keeps the first and the last byte of each unit
 * written. */
static void *
work(void *worker)
{
    struct worker *const w = worker;
    char *block[BLOCKS] = {NULL};
    size_t bytes[BLOCKS] = {0};
    pthread_barrier_wait(&start);
    for (int step = 0; step < w->steps; step++) {
        const uint32_t i = draw(w, BLOCKS);
        const size_t wanted = LEAST + draw(w, 20 * (uint32_t)LEAST);
        const size_t had = bytes[i];
        for (size_t at = 0; at < had; at += LEAST / 2)
            w->failed |= block[i][at] != (char)(w->name + i);
        if (!block[i]) {
            block[i] = ar_heap_take(wanted, AR_HEAP_ANY);
            w->failed |= !block[i];
            bytes[i] = block[i] ? wanted : 0;
        } else if (draw(w, 2)) {
            if (ar_heap_resize(block[i], wanted))
                bytes[i] = wanted;
        } else {
            w->failed |= !ar_heap_give(block[i]);
            block[i] = NULL;
            bytes[i] = 0;
        }
        for (size_t at = 0; at < bytes[i]; at += LEAST / 2)
            if (at < had && had <= bytes[i] && block[i])
                w->failed |= block[i][at] != (char)(w->name + i);
            else
                block[i][at] = (char)(w->name + i);
    }
    for (int i = 0; i < BLOCKS; i++)
        if (block[i])
            ar_heap_give(block[i]);
    return NULL;
}

static void
threads_keep_what_each_has_written(void **state)
{
    enum { THREADS = 4 };
    pthread_t thread[THREADS];
    struct worker worker[THREADS];
    (void)state;
    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        worker[i] =
            (struct worker){.state = (uint64_t)i, .name = (char)(BLOCKS * i), .steps = 10000};
        assert_int_equal(pthread_create(&thread[i], NULL, work, &worker[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        assert_false(worker[i].failed);
    }
}

static void
memory_takes_no_room_before_it_is_touched_and_goes_back_when_it_is_given(void **state)
{
    (void)state;
    const size_t before = resident();
    char *const block = ar_heap_take(SPARSE, AR_HEAP_ANY);
    assert_in_range(resident(), before, before + MIB);
    memset(block, 'x', 2 * KEPT);
    assert_in_range(resident(), 2 * KEPT - before, before + 2 * KEPT + MIB);
    assert_true(ar_heap_resize(block, KEPT + MIB));
    assert_true(is_filled(block, KEPT + MIB, 'x'));
    assert_true(ar_heap_give(block));
    assert_in_range(resident(), 0, KEPT + MIB);
    /* Of many small ones no more is kept. */
    char *many[2 * KEPT / MIB];
    for (size_t i = 0; i < 2 * KEPT / MIB; i++) {
        many[i] = ar_heap_take(MIB, AR_HEAP_ANY);
        memset(many[i], 'y', MIB);
    }
    for (size_t i = 0; i < 2 * KEPT / MIB; i++)
        assert_true(ar_heap_give(many[i]));
    assert_in_range(resident(), 0, KEPT + MIB);
}

/* Valgrind looks through all memory that can be accessed, and takes minutes for a machine's. */
static void
only_what_the_file_has_can_be_accessed(void **state)
{
    (void)state;
    char *const block = ar_heap_take(LEAST, AR_HEAP_ANY);
    assert_in_range(accessible(), LEAST, file_bytes());
    char *const large = ar_heap_take(file_bytes(), AR_HEAP_ANY);
    large[file_bytes() / 2] = 'x';
    assert_in_range(accessible(), LEAST, file_bytes());
    assert_true(ar_heap_give(large) && ar_heap_give(block));
}

/* --- fork --- */

static char *shared_block;
static int to_child[2], to_parent[2];

static int
look_and_write(void)
{
    char byte;
    REQUIRE(is_filled(shared_block, 4 * LEAST, 'a'));
    memset(shared_block, 'c', 4 * LEAST);
    REQUIRE(write(to_parent[1], "w", 1) == 1 && read(to_child[0], &byte, 1) == 1);
    REQUIRE(is_filled(shared_block, 4 * LEAST, 'c'));
    /* It has a heap of its own. */
    char *const other = ar_heap_take(200 * MIB, AR_HEAP_ZERO);
    REQUIRE(other && is_filled(other, MIB, 0));
    memset(other, 'o', MIB);
    REQUIRE(ar_heap_give(shared_block) && ar_heap_give(other));
    REQUIRE(accessible() == file_bytes());
    REQUIRE(resident() < 200 * MIB);
    return 0;
}

static void
a_child_has_a_copy_and_neither_sees_what_the_other_writes(void **state)
{
    char byte;
    (void)state;
    shared_block = ar_heap_take(4 * LEAST, AR_HEAP_ANY);
    memset(shared_block, 'a', 4 * LEAST);
    assert_int_equal(pipe(to_child) | pipe(to_parent), 0);
    const pid_t child = fork();
    if (child == 0)
        _exit(look_and_write());
    memset(shared_block, 'p', 4 * LEAST);
    assert_int_equal(read(to_parent[0], &byte, 1), 1);
    assert_true(is_filled(shared_block, 4 * LEAST, 'p'));
    assert_int_equal(write(to_child[1], "w", 1), 1);
    assert_int_equal(end_of(child), 0);
    assert_true(is_filled(shared_block, 4 * LEAST, 'p'));
    assert_true(ar_heap_give(shared_block));
}

static int
fork_again(void)
{
    REQUIRE(is_filled(shared_block, LEAST, 'a'));
    memset(shared_block, 'b', LEAST);
    const pid_t child = fork();
    if (child == 0) {
        const bool is_right = is_filled(shared_block, LEAST, 'b');
        memset(shared_block, 'x', LEAST);
        _exit(is_right ? 0 : 1);
    }
    REQUIRE(end_of(child) == 0);
    REQUIRE(is_filled(shared_block, LEAST, 'b'));
    return 0;
}

static void
a_childs_child_has_a_copy_of_its_own(void **state)
{
    (void)state;
    shared_block = ar_heap_take(LEAST, AR_HEAP_ANY);
    memset(shared_block, 'a', LEAST);
    assert_in_child(fork_again);
    assert_true(is_filled(shared_block, LEAST, 'a'));
    assert_true(ar_heap_give(shared_block));
}

static int
measure_copy(void)
{
    REQUIRE(shared_block[SPARSE - 1] == 'z' && shared_block[0] == 'a');
    REQUIRE(resident() < 2 * MIB);
    return 0;
}

static int
fork_with_little_in_much(void)
{
    shared_block = ar_heap_take(SPARSE, AR_HEAP_ANY);
    REQUIRE(shared_block);
    shared_block[0] = 'a';
    shared_block[SPARSE - 1] = 'z';
    const pid_t child = fork();
    if (child == 0)
        _exit(measure_copy());
    REQUIRE(end_of(child) == 0);
    return 0;
}

static void
only_what_was_touched_is_copied(void **state)
{
    (void)state;
    assert_in_child(fork_with_little_in_much);
}

static size_t
open_files(void)
{
    size_t n = 0;
    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static int
do_nothing(void)
{
    return 0;
}

static void
forks_leave_no_file_and_no_mapping_behind(void **state)
{
    char line[256];
    size_t mappings[2] = {0, 0}, files[2];
    (void)state;
    void *const block = ar_heap_take(LEAST, AR_HEAP_ANY);
    for (int i = 0; i < 2; i++) {
        files[i] = open_files();
        FILE *const maps = fopen("/proc/self/maps", "re");
        while (fgets(line, sizeof line, maps))
            mappings[i] += strstr(line, "memfd:liballreduce") != NULL;
        fclose(maps);
        for (int k = 0; k < 20 && i == 0; k++)
            assert_in_child(do_nothing);
    }
    assert_int_equal(files[0], files[1]);
    assert_int_equal(mappings[0], mappings[1]);
    assert_true(ar_heap_give(block));
}

static void
a_program_that_is_executed_inherits_nothing(void **state)
{
    struct ar_heap_card card;
    (void)state;
    assert_true(ar_heap_card(&card));
    assert_int_equal(fcntl(card.shared.fd, F_GETFD), FD_CLOEXEC);
}

/* --- peers --- */

static struct ar_peer_card its_card;
static struct ar_peer_place its_place;

static int
read_as_a_peer(void)
{
    struct ar_peer *const peer = ar_heap_memory.meet(&its_card);
    REQUIRE(peer && ar_heap_memory.meet(&its_card) == peer);
    ar_heap_memory.leave(peer);
    const size_t own = accessible();
    char *const mapped = ar_heap_memory.map(peer, &its_place, LEAST);
    REQUIRE(mapped && is_filled(mapped, LEAST, 'a'));
    REQUIRE(own == file_bytes() && accessible() == own + AR_HEAP_STEP_BYTES);
    mapped[0] = 'w';
    ar_heap_memory.leave(peer);
    return 0;
}

static int
meet_with_bounded_addresses(void)
{
    const struct rlimit limit = {(rlim_t)1 << 40, RLIM_INFINITY};
    REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);
    REQUIRE(!ar_heap_memory.meet(&its_card));
    return 0;
}

static void
a_peer_reads_and_writes_a_block_in_place(void **state)
{
    char on_stack[1];
    (void)state;
    char *const block = ar_heap_take(3 * LEAST, AR_HEAP_ANY);
    memset(block, 'a', 3 * LEAST);
    assert_true(ar_heap_memory.introduce(&its_card));
    its_place = ar_heap_memory.show(block + LEAST, LEAST);
    assert_int_not_equal(its_place.word[0], 0);
    assert_int_equal(ar_heap_memory.show(on_stack, 1).word[0], 0);
    assert_int_equal(ar_heap_memory.show(block, SIZE_MAX / 2).word[0], 0);
    assert_in_child(meet_with_bounded_addresses);
    assert_in_child(read_as_a_peer);
    assert_int_equal(block[LEAST], 'w');
    assert_int_equal(block[LEAST + 1], 'a');
    assert_true(ar_heap_give(block));
}

static void
another_processs_file_of_these_numbers_is_not_mapped(void **state)
{
    (void)state;
    assert_true(ar_heap_memory.introduce(&its_card));
    its_card.word[0]++;
    assert_null(ar_heap_memory.meet(&its_card));
}

/* --- what is refused: in children, before their first block --- */

static int
with_limit(int what, rlim_t most)
{
    const struct rlimit limit = {most, most};
    struct ar_heap_card card;
    REQUIRE(setrlimit(what, &limit) == 0);
    REQUIRE(!ar_heap_take(LEAST, AR_HEAP_ANY));
    REQUIRE(!ar_heap_card(&card));
    return 0;
}

static int
with_few_files(void)
{
    return with_limit(RLIMIT_NOFILE, 3);
}

static int
with_short_files(void)
{
    return with_limit(RLIMIT_FSIZE, LEAST);
}

/* Even if these are more than the heap would take. */
static int
with_bounded_addresses(void)
{
    return with_limit(RLIMIT_AS, (rlim_t)1 << 40);
}

static int
with_room_for_less(void)
{
    const struct rlimit limit = {128 * MIB, 128 * MIB};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    REQUIRE(!ar_heap_take(256 * MIB, AR_HEAP_ANY));
    char *const block = ar_heap_take(LEAST, AR_HEAP_ANY);
    REQUIRE(block);
    memset(block, 'a', LEAST);
    REQUIRE(!ar_heap_resize(block, 256 * MIB));
    REQUIRE(ar_heap_take(LEAST, AR_HEAP_ANY));
    REQUIRE(is_filled(block, LEAST, 'a'));
    return 0;
}

/* By a limit that comes after the first block: a copy for a child takes none. */
static int
with_addresses_bounded_later(void)
{
    size_t pages = 0;
    char *const block = ar_heap_take(LEAST, AR_HEAP_ANY);
    FILE *const file = fopen("/proc/self/statm", "re");
    REQUIRE(block && file && fscanf(file, "%zu", &pages) == 1);
    fclose(file);
    memset(block, 'a', LEAST);
    const struct rlimit limit = {pages * (size_t)sysconf(_SC_PAGESIZE) + 64 * MIB, RLIM_INFINITY};
    REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        _exit(is_filled(block, LEAST, 'a') && ar_heap_take(LEAST, AR_HEAP_ANY) ? 0 : 1);
    }
    REQUIRE(end_of(child) == 0);
    return 0;
}

static void
what_the_system_refuses_is_none(void **state)
{
    (void)state;
    assert_in_child(with_room_for_less);
    assert_in_child(with_addresses_bounded_later);
    assert_in_child(with_few_files);
    assert_in_child(with_short_files);
    assert_in_child(with_bounded_addresses);
}

static int
with_its_file_closed(void)
{
    struct ar_heap_card card;
    struct stat about;
    char *const block = ar_heap_take(LEAST, AR_HEAP_ANY);
    REQUIRE(block && ar_heap_card(&card));
    memset(block, 'a', LEAST);
    close(card.shared.fd);
    FILE *const other = tmpfile();
    REQUIRE(other && fileno(other) == card.shared.fd);
    /* What would make the file longer. */
    REQUIRE(!ar_heap_take(65 * MIB, AR_HEAP_ANY));
    REQUIRE(fstat(fileno(other), &about) == 0 && about.st_size == 0);
    const pid_t child = fork();
    if (child == 0)
        _exit(is_filled(block, LEAST, 'a') && fcntl(fileno(other), F_GETFD) >= 0 ? 0 : 1);
    REQUIRE(end_of(child) == 0);
    REQUIRE(is_filled(block, LEAST, 'a'));
    return 0;
}

static void
a_file_that_the_program_has_closed_is_not_mistaken_for_another(void **state)
{
    (void)state;
    assert_in_child(with_its_file_closed);
}

/* Is the heap's file none of the standard descriptors that the program has closed? */
static bool
is_file_apart(void)
{
    struct ar_heap_card card;
    return ar_heap_card(&card) && card.shared.fd > STDERR_FILENO && write(0, "text", 4) < 0 &&
           write(1, "text", 4) < 0;
}

static int
with_standard_descriptors_closed(void)
{
    close(0);
    close(1);
    char *const block = ar_heap_take(LEAST, AR_HEAP_ZERO);
    REQUIRE(block && is_file_apart() && is_filled(block, LEAST, 0));
    const pid_t child = fork();
    if (child == 0)
        _exit(is_file_apart() && is_filled(block, LEAST, 0) ? 0 : 1);
    REQUIRE(end_of(child) == 0);
    return 0;
}

static void
what_is_printed_to_a_closed_descriptor_does_not_get_into_the_heap(void **state)
{
    (void)state;
    assert_in_child(with_standard_descriptors_closed);
}

/* The parent's limit on files leaves no room for the copy's. */
static int
without_room_for_a_copy(void)
{
    struct rlimit limit;
    char *const block = ar_heap_take(LEAST, AR_HEAP_ANY);
    REQUIRE(block);
    memset(block, 'a', LEAST);
    REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = 3;
    REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    close(STDERR_FILENO); /* where it is told */
    limit.rlim_cur = 2;
    REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        REQUIRE(!ar_heap_take(LEAST, AR_HEAP_ANY));
        REQUIRE(ar_heap_give(block));
        block[0] = 'c';
        _exit(0);
    }
    const int status = end_of(child);
    REQUIRE(status != -1 && WIFSIGNALED(status));
    REQUIRE(WTERMSIG(status) == SIGSEGV && is_filled(block, LEAST, 'a'));
    return 0;
}

/* What is too long for the limit is said to be. */
static int
with_short_files_for_a_copy(void)
{
    const struct rlimit limit = {MIB, RLIM_INFINITY};
    char line[256] = "";
    FILE *const told = tmpfile();
    REQUIRE(told && dup2(fileno(told), STDERR_FILENO) == STDERR_FILENO);
    REQUIRE(ar_heap_take(LEAST, AR_HEAP_ANY) && setrlimit(RLIMIT_FSIZE, &limit) == 0);
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    REQUIRE(end_of(child) == 0);
    rewind(told);
    REQUIRE(fgets(line, sizeof line, told) && strstr(line, "cannot be copied"));
    REQUIRE(strstr(line, strerror(EFBIG)));
    return 0;
}

static void
why_there_is_no_copy_is_told(void **state)
{
    (void)state;
    assert_in_child(with_short_files_for_a_copy);
}

static void
a_child_without_a_copy_cannot_touch_its_parents_blocks(void **state)
{
    (void)state;
    assert_in_child(without_room_for_a_copy);
}

/* Is memory that was given back zero? */
static bool
gives_back(void)
{
    const int fd = memfd_create("test", MFD_CLOEXEC);
    char *const memory = mmap(NULL, LEAST, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (ftruncate(fd, (off_t)LEAST) != 0 || memory == MAP_FAILED)
        return true; /* the tests tell */
    memory[0] = 'x';
    return madvise(memory, LEAST, MADV_REMOVE) == 0 && memory[0] == 0;
}

int
main(void)
{
    if (!gives_back()) {
        printf("MADV_REMOVE has no effect here, so that there is no heap\n");
        return ar_heap_take(LEAST, AR_HEAP_ANY) ? 1 : 77;
    }
    const struct CMUnitTest before_the_first_block[] = {
        cmocka_unit_test(what_the_system_refuses_is_none),
        cmocka_unit_test(only_what_was_touched_is_copied),
        cmocka_unit_test(a_file_that_the_program_has_closed_is_not_mistaken_for_another),
        cmocka_unit_test(what_is_printed_to_a_closed_descriptor_does_not_get_into_the_heap),
        cmocka_unit_test(a_child_without_a_copy_cannot_touch_its_parents_blocks),
        cmocka_unit_test(why_there_is_no_copy_is_told),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_too_small_is_not_taken),
        cmocka_unit_test(only_the_first_byte_of_a_block_tells_that_it_is_one),
        cmocka_unit_test(zero_is_zero_whatever_was_there),
        cmocka_unit_test(threads_keep_what_each_has_written),
        cmocka_unit_test(memory_takes_no_room_before_it_is_touched_and_goes_back_when_it_is_given),
        cmocka_unit_test(only_what_the_file_has_can_be_accessed),
        cmocka_unit_test(a_child_has_a_copy_and_neither_sees_what_the_other_writes),
        cmocka_unit_test(a_childs_child_has_a_copy_of_its_own),
        cmocka_unit_test(forks_leave_no_file_and_no_mapping_behind),
        cmocka_unit_test(a_program_that_is_executed_inherits_nothing),
        cmocka_unit_test(a_peer_reads_and_writes_a_block_in_place),
        cmocka_unit_test(another_processs_file_of_these_numbers_is_not_mapped),
    };
    return cmocka_run_group_tests(before_the_first_block, NULL, NULL) ||
           cmocka_run_group_tests(tests, NULL, NULL);
}
