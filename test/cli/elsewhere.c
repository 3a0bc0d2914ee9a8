/* A program without MPI: prints what a preloaded library could have changed by its start.
 *
 * usage: elsewhere [thread|set_user_id|signal] */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* The number of open files.  They are not printed, since others may have been inherited. */
static int
count_open(void)
{
    int n = 0;
    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static void *
add(void *sum)
{
    for (int i = 0; i < 1000; i++)
        __atomic_fetch_add((int *)sum, 1, __ATOMIC_RELAXED);
    return NULL;
}

static int
run_threads(void)
{
    pthread_t threads[4];
    int sum = 0;
    for (int i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, add, &sum))
            return 1;
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return sum;
}

int
main(int argc, char **argv)
{
    const int error = errno;
    const char *const what = argc > 1 ? argv[1] : "";
    struct sigaction action;
    int caught = 0;
    for (int number = 1; number < NSIG; number++)
        caught += sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_DFL;
    printf("errno %d, %d open, %d signals not by default, secure %lu\n", error, count_open(),
           caught, getauxval(AT_SECURE));
    if (strcmp(what, "thread") == 0)
        printf("sum %d\n", run_threads());
    if (strcmp(what, "signal") == 0)
        abort();
    return 9;
}
