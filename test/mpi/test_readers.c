/* Readers of one line, as threads: what allreduce model measures of them where cores are fewer, by
 * a clock of this test. */
#include "config.h"

#include <pthread.h>
#include <stdint.h>

#include "check.h"

#define ar_clock_system_ns test_clock
static uint64_t test_clock(void);
#include "helper/measure_levels.c" /* NOLINT(bugprone-suspicious-include): with that clock */

enum { WRITER = -1, TURNS_OF_ALL = 20 };

static const uint64_t late[] = {40, 0, 100, 70}; /* ns: a reader behind the first one */

static _Thread_local int self = WRITER;
static _Thread_local uint64_t looks;

/* A writer's samples take so long that there are few. */
static uint64_t
test_clock(void)
{
    looks++;
    return self == WRITER ? looks * (LONGEST_NS / TURNS_OF_ALL) : looks * 1000 + late[self];
}

static struct shared s;

static void *
read_as(void *reader)
{
    self = *(int *)reader;
    read_line(&s, self);
    return NULL;
}

/* Twice, as for two levels. */
static void
check_readers(int n, double wanted)
{
    for (int level = 0; level < 2; level++) {
        pthread_t threads[4];
        int reader[4];
        for (int i = 0; i < n; i++) {
            reader[i] = i;
            if (pthread_create(&threads[i], NULL, read_as, &reader[i]))
                abort();
        }
        looks = 0;
        const double serve = write_line(&s, n);
        for (int i = 0; i < n; i++)
            pthread_join(threads[i], NULL);
        CHECK(serve == wanted, "%d readers: %g ns", n, serve);
        CHECK(looks >= TURNS_OF_ALL && looks <= TURNS_OF_ALL + 2,
              "%d readers: the clock was read %d times", n, (int)looks);
        CHECK(s.turn == 0, "%d readers leave turn %d", n, s.turn);
    }
}

int
main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_readers(2, 40);
    check_readers(3, 50);
    check_readers(4, 100.0 / 3);
    MPI_Finalize();
    return check_status();
}
