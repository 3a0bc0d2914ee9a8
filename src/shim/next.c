#include "shim/next.h"

#include <stddef.h>
#include <stdint.h>

static __thread const struct ar_native_mark *innermost __attribute__((tls_model("initial-exec")));

void
ar_native_begin(struct ar_native_mark *mark)
{
    mark->outer = innermost;
    innermost = mark;
}

void
ar_native_end(const struct ar_native_mark *mark)
{
    innermost = mark->outer;
}

/* Stacks grow downwards: a mark below the frame at hand was left behind by a jump. */
bool
ar_native_is_running(void)
{
    return (uintptr_t)innermost > (uintptr_t)__builtin_frame_address(0);
}

void
ar_native_forget(void)
{
    innermost = NULL;
}
