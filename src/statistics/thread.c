#include "statistics/thread.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

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
