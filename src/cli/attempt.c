#include <config.h>

#include "cli/attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "report/clock.h"

extern char **environ;

#define PAUSE_NS ((long)10000000)
#define GRACE_S  5.0 /* between SIGTERM and SIGKILL: launchers end their ranks meanwhile */

static volatile sig_atomic_t is_interrupted;

static void
interrupt(int number)
{
    (void)number;
    is_interrupted = 1;
}

/* What is ignored stays so, as SIGHUP under nohup. */
void
ar_attempt_catch_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    const struct sigaction action = {.sa_handler = interrupt};
    struct sigaction before;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
}

static double
now_s(void)
{
    return (double)ar_clock_system_ns() * 1e-9;
}

/* Starts argv as the head of a process group, with the signals that this program catches as they
 * are by default.  0, or errno. */
static int
start(pid_t *child, char *const *argv, const char *input, const char *output)
{
    const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW;
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, input, O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output, flags, 0666);
    posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
    const int error = posix_spawnp(child, argv[0], &files, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return error;
}

/* Waits until the child has ended, a signal has come or the moment is there.  Has it ended? */
static bool
await(pid_t child, int *status, double until_s)
{
    const struct timespec pause = {0, PAUSE_NS};
    for (;;) {
        if (waitpid(child, status, WNOHANG) == child)
            return true;
        if (now_s() >= until_s || is_interrupted)
            return false;
        nanosleep(&pause, NULL);
    }
}

/* Ends what there is of the child's group: politely, and then not. */
static void
end_group(pid_t child, bool is_over)
{
    const struct timespec pause = {0, PAUSE_NS};
    const double until_s = now_s() + GRACE_S;
    int status;
    kill(-child, SIGTERM);
    while (now_s() < until_s && (!is_over || kill(-child, 0) == 0)) {
        is_over = is_over || waitpid(child, &status, WNOHANG) == child;
        nanosleep(&pause, NULL);
    }
    kill(-child, SIGKILL);
    if (!is_over)
        waitpid(child, &status, 0);
}

static struct ar_attempt_result
result_of(int status, double seconds)
{
    if (WIFSIGNALED(status))
        return (struct ar_attempt_result){AR_ATTEMPT_SIGNAL, WTERMSIG(status), seconds};
    return (struct ar_attempt_result){WEXITSTATUS(status) ? AR_ATTEMPT_STATUS : AR_ATTEMPT_PASSED,
                                      WEXITSTATUS(status), seconds};
}

static struct ar_attempt_result
run(char *const *argv, const char *input, const char *output, double until_s)
{
    const double begun = now_s();
    pid_t child;
    int status;
    const int error = start(&child, argv, input, output);
    if (error)
        return (struct ar_attempt_result){AR_ATTEMPT_NOT_STARTED, error, 0};
    const bool has_ended = await(child, &status, until_s);
    const double seconds = now_s() - begun;
    end_group(child, has_ended);
    if (has_ended)
        return result_of(status, seconds);
    return (struct ar_attempt_result){is_interrupted ? AR_ATTEMPT_INTERRUPTED : AR_ATTEMPT_LATE, 0,
                                      seconds};
}

struct ar_attempt_result
ar_attempt_run(const struct ar_attempt *trial)
{
    const double until = now_s() + trial->limit_s;
    /* The check is a program of its own. */
    char *const check[] = {"env", "-u", "LD_PRELOAD",         "-u", "ALLREDUCE_STATS",
                           "sh",  "-c", (char *)trial->check, NULL};
    struct ar_attempt_result result = run(trial->command, "/dev/null", trial->log, until);
    if (result.end != AR_ATTEMPT_PASSED || !trial->check)
        return result;
    const struct ar_attempt_result checked = run(check, trial->log, "/dev/null", until);
    if (checked.end == AR_ATTEMPT_STATUS)
        result = (struct ar_attempt_result){AR_ATTEMPT_REFUSED, checked.number, result.seconds};
    else if (checked.end != AR_ATTEMPT_PASSED)
        result = (struct ar_attempt_result){checked.end, checked.number, result.seconds};
    return result;
}

char *
ar_attempt_describe(const struct ar_attempt_result *result, char *text, size_t room)
{
    switch (result->end) {
    case AR_ATTEMPT_PASSED:
        snprintf(text, room, "passed");
        break;
    case AR_ATTEMPT_STATUS:
        snprintf(text, room, "exit status %d", result->number);
        break;
    case AR_ATTEMPT_SIGNAL:
        snprintf(text, room, "signal %d (%s)", result->number, strsignal(result->number));
        break;
    case AR_ATTEMPT_LATE:
        snprintf(text, room, "still running, ended");
        break;
    case AR_ATTEMPT_REFUSED:
        snprintf(text, room, "the check ended with %d", result->number);
        break;
    case AR_ATTEMPT_INTERRUPTED:
        snprintf(text, room, "interrupted");
        break;
    case AR_ATTEMPT_NOT_STARTED:
        snprintf(text, room, "not started: %s", strerror(result->number));
        break;
    }
    return text;
}
