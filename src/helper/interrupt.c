#include "config.h"

#include "helper/interrupt.h"

#include <signal.h>

static volatile sig_atomic_t came;

static void
note(int number)
{
    (void)number;
    came = 1;
}

/* A second signal does not end the process either: a launcher passes on what the terminal has sent
 * to the rank already.  Launchers themselves end the job at the second. */
void
ar_interrupt_watch(void)
{
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool
ar_interrupt_came(void)
{
    return came;
}
