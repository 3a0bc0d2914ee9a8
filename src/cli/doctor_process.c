#include <config.h>

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "cli/doctor.h"
#include "cli/preload.h"
#include "config/config.h"
#include "config/rank.h"
#include "execute/shared.h"

/* --- settings --- */

static void
examine_settings(struct ar_findings *findings)
{
    struct ar_config *const config = ar_config_from_environment();
    if (!config)
        return;
    if (config->broken)
        ar_find(findings, config->error ? AR_VERDICT_WRONG : AR_VERDICT_WARNING, "settings",
                config->error ? "the job would end in its first allreduce; ALLREDUCE_STRICT=0 "
                                "makes its calls native"
                              : "all calls are native",
                "%s", config->problem);
    else if (*config->strange)
        ar_find(findings, AR_VERDICT_WARNING, "settings", "see allreduce(7) for those that count",
                "not a variable of this library, ignored: %s", config->strange);
    else
        ar_find(findings, AR_VERDICT_OK, "settings", NULL,
                "all ALLREDUCE_ variables are understood");
    if (config->tuned)
        ar_find(findings, AR_VERDICT_NOTE, "rules", "allreduce tune makes new ones",
                "ALLREDUCE_RULES were tuned on: %s", config->tuned);
    ar_config_destroy(config);
}

/* --- the preload --- */

/* ld.so only warns of what it cannot load, and goes on without. */
static void
examine_entry(struct ar_findings *findings, const char *entry)
{
    if (strchr(entry, '$'))
        ar_find(findings, AR_VERDICT_NOTE, "preload", NULL,
                "LD_PRELOAD has %s, whose $ the dynamic linker replaces", entry);
    else if (!strchr(entry, '/'))
        ar_find(findings, AR_VERDICT_WARNING, "preload", "give its whole path",
                "LD_PRELOAD has the bare name %s, which is not looked for in this folder", entry);
    else if (access(entry, R_OK))
        ar_find(findings, AR_VERDICT_WRONG, "preload", "the program would run without it",
                "LD_PRELOAD has %s: %s", entry, strerror(errno));
    else
        ar_find(findings, AR_VERDICT_OK, "preload", NULL, "LD_PRELOAD has %s", entry);
}

static void
examine_preload(struct ar_findings *findings)
{
    const char *const value = getenv("LD_PRELOAD");
    char *const entries = strdup(value ? value : "");
    char *rest = entries, *entry;
    while (entries && (entry = strsep(&rest, ": ")))
        if (*entry)
            examine_entry(findings, entry);
    free(entries);
}

/* --- the program --- */

/* What keeps it from running under the library, or what could not be told. */
static void
examine_fit(struct ar_findings *findings, const struct ar_executable *program, const char *library)
{
    char *text = NULL;
    size_t length;
    FILE *const to = open_memstream(&text, &length);
    if (!to)
        return;
    const bool refused = ar_preload_set(library) || ar_preload_check(program, library, to) != 0;
    fclose(to);
    while (length > 0 && text[length - 1] == '\n')
        text[--length] = '\0';
    if (refused || length > 0)
        ar_find(findings, refused ? AR_VERDICT_WRONG : AR_VERDICT_NOTE, "program", NULL, "%s",
                text);
    else
        ar_find(findings, AR_VERDICT_OK, "program", NULL, "%s takes the library", program->path);
    free(text);
}

/* What a Python interpreter loads counts for it, too: *module becomes mpi4py's.  False where there
 * is none. */
static bool
find_mpi4py(struct ar_executable *module, const struct ar_executable *python)
{
    static const char script[] = "import importlib.util as u; m = u.find_spec(\"mpi4py.MPI\"); "
                                 "print(m.origin if m else \"\")";
    const char *const slash = strrchr(python->path, '/');
    char command[PATH_MAX + 256], path[PATH_MAX] = "";
    if (fnmatch("python*", slash ? slash + 1 : python->path, 0) != 0 || strchr(python->path, '\''))
        return false;
    snprintf(command, sizeof command, "'%s' -c '%s' 2>/dev/null", python->path, script);
    FILE *const from = popen(command, "r");
    if (from && !fgets(path, sizeof path, from))
        *path = '\0';
    if (from)
        pclose(from);
    path[strcspn(path, "\n")] = '\0';
    *module = *python;
    snprintf(module->path, sizeof module->path, "%s", path);
    return *path != '\0';
}

static void
examine_program(struct ar_findings *findings, const char *name)
{
    struct ar_executable program, module;
    char *const library = ar_preload_find();
    if (library)
        ar_find(findings, AR_VERDICT_OK, "library", NULL, "%s", library);
    else
        ar_find(findings, AR_VERDICT_WRONG, "library", "give allreduce run --library FILE",
                AR_PRELOAD_NAME " is not where it was installed");
    const int error = name ? ar_executable_examine(&program, name) : 0;
    if (error)
        ar_find(findings, AR_VERDICT_WRONG, "program", NULL, "%s: %s", name,
                error == ENOENT && !strchr(name, '/') ? "not found in PATH" : strerror(error));
    else if (name && library)
        examine_fit(findings, find_mpi4py(&module, &program) ? &module : &program, library);
    free(library);
}

/* --- the machine --- */

int
ar_doctor_threads_running(void)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    int least = INT_MAX;
    for (int i = 0; i < 10; i++) {
        int running = 0;
        FILE *const file = fopen("/proc/loadavg", "r");
        if (!file || fscanf(file, "%*s %*s %*s %d/", &running) != 1)
            running = 0;
        if (file)
            fclose(file);
        least = running < least ? running : least;
        nanosleep(&pause, NULL);
    }
    return least;
}

static void
examine_cores(struct ar_findings *findings)
{
    cpu_set_t mask;
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    CPU_ZERO(&mask);
    const int mine = sched_getaffinity(0, sizeof mask, &mask) ? 0 : CPU_COUNT(&mask);
    ar_find(findings, AR_VERDICT_OK, "cores", NULL, "%ld online, %d for this process", online,
            mine);
}

static void
examine_shared_memory(struct ar_findings *findings)
{
    struct ar_shared shared;
    struct statvfs room;
    const size_t bytes = (size_t)1 << 20;
    for (int by_name = 0; by_name < 2; by_name++) {
        void *const memory = ar_shared_make(&shared, by_name, bytes);
        void *const again = memory ? ar_shared_open(&shared, bytes) : NULL;
        const bool works = again != NULL;
        if (again)
            munmap(again, bytes);
        if (memory)
            munmap(memory, bytes);
        if (memory)
            ar_shared_hide(&shared);
        if (works && !by_name) {
            ar_find(findings, AR_VERDICT_OK, "memory", NULL, "can be shared, through /proc");
            return;
        }
        if (works && statvfs("/dev/shm", &room) == 0)
            ar_find(findings, AR_VERDICT_NOTE, "memory",
                    "in containers: a larger /dev/shm (docker: --shm-size), or --ipc=host",
                    "can be shared through /dev/shm alone, which has %llu MiB free",
                    (unsigned long long)room.f_bavail * room.f_frsize >> 20);
        if (works)
            return;
    }
    ar_find(
        findings, AR_VERDICT_WARNING, "memory",
        "mount /proc and /dev/shm, and allow memfd_create: messages between the ranks of a node go "
        "by MPI until then",
        "cannot be shared: neither through /proc nor through /dev/shm");
}

static void
examine_limits(struct ar_findings *findings)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < 1024)
        ar_find(findings, AR_VERDICT_WARNING, "limits", "ulimit -n 4096",
                "only %llu open files are allowed", (unsigned long long)files.rlim_cur);
    else
        ar_find(findings, AR_VERDICT_OK, "limits", NULL, "open files suffice");
}

static void
examine_load(struct ar_findings *findings)
{
    struct ar_launcher launcher;
    if (ar_launcher_find(&launcher, NULL)) /* the ranks would count: see doctor_job.c */
        return;
    const int others = ar_doctor_threads_running() - 1;
    if (others > 0)
        ar_find(findings, AR_VERDICT_WARNING, "load", "what is measured now is worth little",
                "%d other threads run on this machine", others);
    else
        ar_find(findings, AR_VERDICT_OK, "load", NULL, "no other thread runs on this machine");
}

void
ar_doctor_examine_process(struct ar_findings *findings, const char *program)
{
    examine_settings(findings);
    examine_preload(findings);
    examine_program(findings, program);
    examine_cores(findings);
    examine_load(findings);
    examine_shared_memory(findings);
    examine_limits(findings);
}
