/* The end of a call that the program may leave in three ways: by its return, and, from an error
 * handler or a callback, by longjmp or a C++ exception. */
#ifndef AR_LEAVE_H
#define AR_LEAVE_H

/* Returns function(with).  end(with) is called once, however function is left. */
int ar_call_until(int (*function)(void *with), void *with, void (*end)(void *with));

#endif
