#include "communicator/snapshot.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

#include "report/report.h"

static sem_t wish;
static void (*writer)(void);
static struct sigaction before; /* who else handles the signal */

/* Of all that we do only this may be done in a handler.  The one before, of the
 * program or the MPI library, has its turn too. */
static void
on_signal(int signal, siginfo_t *info, void *context)
{
    const int saved = errno;
    sem_post(&wish);
    errno = saved;
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(signal, info, context);
    else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
        before.sa_handler(signal);
}

static void *
serve(void *unused)
{
    (void)unused;
    for (;;)
        if (sem_wait(&wish) == 0)
            writer();
    return NULL;
}

/* No signal of the program's is to be handled on our thread. */
static bool
start_thread(void)
{
    sigset_t every, usual;
    pthread_t thread;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &usual);
    const int error = pthread_create(&thread, NULL, serve, NULL);
    pthread_sigmask(SIG_SETMASK, &usual, NULL);
    if (error)
        ar_say("ALLREDUCE_STATS_SIGNAL: no thread for it: %s", strerror(error));
    else
        pthread_detach(thread);
    return !error;
}

void
ar_snapshot_at(int signal, void (*write)(void))
{
    const struct sigaction ours = {.sa_sigaction = on_signal, .sa_flags = SA_RESTART | SA_SIGINFO};
    writer = write;
    sem_init(&wish, 0, 0);
    sigaction(signal, NULL, &before);
    if (start_thread())
        sigaction(signal, &ours, NULL);
}
