/* A library with the name of an MPI library's bindings: its functions pass calls on, directly and
 * from one to the other.  The calls do not end them, so that they are on the stack. */
#define EXPORT __attribute__((visibility("default"), noinline))

EXPORT int binding_one(int (*next)(void));
EXPORT int binding_two(int (*next)(void));

int
binding_one(int (*next)(void))
{
    const int result = next();
    __asm__ volatile("");
    return result;
}

static int (*last)(void);

static int
pass_on(void)
{
    const int result = last();
    __asm__ volatile("");
    return result;
}

int
binding_two(int (*next)(void))
{
    last = next;
    const int result = binding_one(pass_on);
    __asm__ volatile("");
    return result;
}
