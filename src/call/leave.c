/* Compiled with -fexceptions, by which an exception on its way runs cleanups. */
#include "call/leave.h"

#include <pthread.h>

/* glibc's, which has them for libraries: its longjmp calls what was pushed in frames that it
 * leaves.
 */
void _pthread_cleanup_push(struct _pthread_cleanup_buffer *buffer, void (*routine)(void *),
                           void *with);
void _pthread_cleanup_pop(struct _pthread_cleanup_buffer *buffer, int runs);

static void
leave(struct _pthread_cleanup_buffer *buffer)
{
    _pthread_cleanup_pop(buffer, 1);
}

/* Where the buffer is tells longjmp whose it is: a sanitizer must not put it elsewhere. */
__attribute__((no_sanitize("address"))) int
ar_call_until(int (*function)(void *with), void *with, void (*end)(void *with))
{
    __attribute__((cleanup(leave))) struct _pthread_cleanup_buffer buffer;
    _pthread_cleanup_push(&buffer, end, with);
    return function(with);
}
