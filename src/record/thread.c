#include "record/thread.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "report/say.h"

int
ar_thread_start(void *(*serve)(void *))
{
    sigset_t every, usual;
    pthread_t thread;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &usual);
    const int error = pthread_create(&thread, NULL, serve, NULL);
    pthread_sigmask(SIG_SETMASK, &usual, NULL);
    if (!error)
        pthread_detach(thread);
    return error;
}

static sem_t asked;
static void (*writer)(void);
static pid_t served;            /* the process that has the thread */
static struct sigaction before; /* who else handles the signal */

/* A handler may do no more than this.  The earlier one, of the program or the MPI library, is
 * called too.  A child by fork has no such thread: there the signal does what it did before. */
static void
on_signal(int signal, siginfo_t *info, void *context)
{
    const int saved = errno;
    if (getpid() == served) {
        sem_post(&asked);
    } else if (!(before.sa_flags & SA_SIGINFO) && before.sa_handler == SIG_DFL) {
        sigaction(signal, &before, NULL);
        raise(signal); /* when this handler has returned */
    }
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
        if (sem_wait(&asked) == 0)
            writer();
    return NULL;
}

void
ar_thread_write_at(int signal, void (*write)(void))
{
    const struct sigaction ours = {.sa_sigaction = on_signal,
                                   .sa_flags = SA_RESTART | SA_SIGINFO | SA_ONSTACK};
    writer = write;
    served = getpid();
    sem_init(&asked, 0, 0);
    sigaction(signal, NULL, &before);
    const int error = ar_thread_start(serve);
    if (error)
        ar_say("ALLREDUCE_STATS_SIGNAL: cannot start its thread: %s", strerror(error));
    else
        sigaction(signal, &ours, NULL);
}
