#include <config.h>

#include <dlfcn.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/preload.h"
#include "config/config.h"
#include "config/rank.h"
#include "cores/levels.h"
#include "execute/shared.h"
#include "helper/doctor.h"
#include "select/number.h"

/* --- settings --- */

static void
examine_settings(struct ar_findings *findings, bool is_in_job)
{
    struct ar_config *const config = ar_config_from_environment(0);
    const char *name, *advice;
    size_t i = 0;
    if (!config)
        return;
    if (config->broken)
        ar_find(findings, config->error ? AR_SEVERITY_WRONG : AR_SEVERITY_WARNING, "settings",
                config->error ? "the job would end in its first allreduce; with ALLREDUCE_STRICT=0 "
                                "all its calls would run native"
                              : "all calls run native",
                "%s", config->problem);
    else if (*config->strange)
        ar_find(findings, AR_SEVERITY_WARNING, "settings",
                "see allreduce(7) for the variables that exist",
                "ignored, because this library has no such variable: %s", config->strange);
    else
        ar_find(findings, AR_SEVERITY_OK, "settings", NULL,
                "all ALLREDUCE_ variables are understood");
    while ((name = ar_config_next_unused(config, &i, &advice)))
        ar_find(findings, AR_SEVERITY_NOTE, "settings", advice,
                "%s is set but not used for MPI_Allreduce", name);
    if (config->tuned && !is_in_job) /* else see doctor_job.c */
        ar_find(findings, AR_SEVERITY_NOTE, "rules",
                "start the doctor with the launcher, so that it can compare that with this job",
                "the rules of ALLREDUCE_RULES were tuned on: %s", config->tuned);
    ar_config_destroy(config);
}

/* --- the preload --- */

/* The file that the linker has found for the bare name, as this process has the same preload; NULL:
 * none. */
static const char *
preloaded(const char *name)
{
    struct link_map *map = NULL;
    void *const handle = dlopen(name, RTLD_NOLOAD | RTLD_LAZY); /* never closed: it stays */
    return handle && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : NULL;
}

/* ld.so only warns of what it cannot load, and goes on without. */
static void
examine_entry(struct ar_findings *findings, const char *entry)
{
    const char *const found = strchr(entry, '/') ? NULL : preloaded(entry);
    if (found)
        ar_find(findings, AR_SEVERITY_OK, "preload", NULL,
                "LD_PRELOAD has %s, where the dynamic linker finds %s", entry, found);
    else if (strchr(entry, '$'))
        ar_find(findings, AR_SEVERITY_NOTE, "preload", NULL,
                "LD_PRELOAD has %s, whose $ the dynamic linker replaces", entry);
    else if (!strchr(entry, '/'))
        ar_find(findings, AR_SEVERITY_WRONG, "preload",
                "give its full path; the program would run without it",
                "LD_PRELOAD has the bare name %s, which the dynamic linker does not find", entry);
    else if (access(entry, R_OK))
        ar_find(findings, AR_SEVERITY_WRONG, "preload",
                "give the path of a file that exists; the program would run without it",
                "LD_PRELOAD has %s: %s", entry, strerror(errno));
    else
        ar_find(findings, AR_SEVERITY_OK, "preload", NULL, "LD_PRELOAD has %s", entry);
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
        ar_find(findings, refused ? AR_SEVERITY_WRONG : AR_SEVERITY_NOTE, "program", NULL, "%s",
                text);
    else
        ar_find(findings, AR_SEVERITY_OK, "program", NULL, "%s takes the library", program->path);
    free(text);
}

/* By its name, and no script: anything else that is called python-something is the user's own
 * program, which must not run. */
static bool
is_python(const struct ar_executable *program)
{
    static const char *const names[] = {"python", "python[23]", "python[23].[0-9]*"};
    const char *const slash = strrchr(program->path, '/');
    bool is = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        is |= fnmatch(names[i], slash ? slash + 1 : program->path, 0) == 0;
    return is && program->kind != AR_EXECUTABLE_SCRIPT;
}

/* What a Python interpreter loads counts for it, too: *module becomes mpi4py's.  False where there
 * is none. */
static bool
find_mpi4py(struct ar_executable *module, const struct ar_executable *python)
{
    static const char script[] = "import importlib.util as u; m = u.find_spec(\"mpi4py.MPI\"); "
                                 "print(m.origin if m else \"\")";
    char command[PATH_MAX + 256], path[PATH_MAX] = "";
    if (!is_python(python) || strchr(python->path, '\''))
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
        ar_find(findings, AR_SEVERITY_OK, "library", NULL, "%s", library);
    else
        ar_find(findings, AR_SEVERITY_WRONG, "library", "give allreduce run --library FILE",
                AR_PRELOAD_NAME " is not where it was installed");
    const int error = name ? ar_executable_examine(&program, name) : 0;
    if (error)
        ar_find(findings, AR_SEVERITY_WRONG, "program", NULL, "%s: %s", name,
                error == ENOENT && !strchr(name, '/') ? "not found in PATH" : strerror(error));
    if (!error && name && library) {
        const struct ar_executable *const looked_at =
            find_mpi4py(&module, &program) ? &module : &program;
        examine_fit(findings, looked_at, library);
        char *const loads =
            looked_at->kind == AR_EXECUTABLE_DYNAMIC ? ar_executable_libraries(looked_at) : NULL;
        if (loads)
            ar_doctor_examine_devices(findings, loads);
        free(loads);
    }
    free(library);
}

/* --- the machine --- */

/* Of a process that is no rank: those are looked at together (doctor_job.c). */
static void
examine_cores(struct ar_findings *findings)
{
    struct ar_seat mine = {.quotas = ar_cpu_quotas_find("")};
    struct ar_cpus online;
    char levels[128];
    struct ar_text text;
    ar_cpus_of_thread(&mine.cpus);
    ar_cpus_find_online(&online, "");
    ar_text_init(&text, levels, sizeof levels);
    for (int level = 0; level < AR_CPU_LEVELS; level++) {
        const int n = ar_cpu_domains_count("", (enum ar_cpu_level)level, &online);
        if (n > 0)
            ar_text_add(&text, "%s%d %s%s", text.length ? ", " : ": ", n,
                        ar_cpu_level_name((enum ar_cpu_level)level), ar_plural((size_t)n));
    }
    const int cpus = ar_cpus_count(&mine.cpus);
    ar_find(findings, AR_SEVERITY_OK, "cores", NULL, "%ld CPUs online%s; %d for this process",
            sysconf(_SC_NPROCESSORS_ONLN), levels, cpus);
    const struct ar_quota_told quota = ar_doctor_judge_quota(&mine, 1);
    ar_doctor_tell_quota(findings, NULL, &quota);
    ar_doctor_tell_load(findings, NULL, ar_doctor_busy_cpus(&mine.cpus), cpus);
}

/* Ranks in other containers of the host are found by its boot id. */
static void
examine_host(struct ar_findings *findings)
{
    if (ar_boot_hash() == 0)
        ar_find(findings, AR_SEVERITY_NOTE, "host",
                "if ranks are in several containers of a host that has fewer cores than ranks, set "
                "ALLREDUCE_WAIT=sleep",
                "the kernel's boot id is hidden, as in LXC and systemd-nspawn: ranks in other "
                "containers of this host are not counted");
}

/* 0, or the errno of what keeps memory from being shared so. */
static int
try_memory(bool by_name)
{
    const size_t bytes = (size_t)1 << 20;
    struct ar_shared shared;
    const struct ar_shared_parts all = {0, bytes, 0, 1};
    void *const memory = ar_shared_make(&shared, by_name, bytes, &all, 1);
    if (!memory)
        return errno;
    void *const again = ar_shared_open(&shared, bytes, NULL, 0);
    const int error = again ? 0 : errno;
    if (again)
        munmap(again, bytes);
    munmap(memory, bytes);
    ar_shared_hide(&shared);
    return error;
}

#define ENOUGH_MIB 64 /* what a communicator of ours may take, and what docker gives */

static void
examine_shared_memory(struct ar_findings *findings)
{
    static const char larger[] = "in a container, give it a larger /dev/shm (docker: --shm-size), "
                                 "or the host's (--ipc=host)";
    struct statvfs room;
    const int error = try_memory(false), named_error = try_memory(true);
    const bool is_there = statvfs("/dev/shm", &room) == 0;
    const unsigned long long mib =
        is_there ? (unsigned long long)room.f_bavail * room.f_frsize >> 20 : 0;
    if (error && named_error)
        ar_find(findings, AR_SEVERITY_WARNING, "memory",
                "mount /proc and /dev/shm, and allow memfd_create; until then messages between the "
                "ranks of a node go through MPI",
                "cannot be shared: through /proc: %s; through /dev/shm: %s", strerror(error),
                strerror(named_error));
    else if (error)
        ar_find(findings, mib < ENOUGH_MIB ? AR_SEVERITY_WARNING : AR_SEVERITY_NOTE, "memory",
                larger,
                "can be shared only through /dev/shm, which has %llu MiB free (through /proc: %s)",
                mib, strerror(error));
    else if (named_error || mib < ENOUGH_MIB)
        ar_find(findings, AR_SEVERITY_NOTE, "memory", larger,
                "can be shared through /proc; an MPI library may need /dev/shm, too, which has "
                "%llu MiB free%s%s",
                mib, named_error ? ": " : "", named_error ? strerror(named_error) : "");
    else
        ar_find(findings, AR_SEVERITY_OK, "memory", NULL,
                "can be shared, through /proc; /dev/shm has %llu MiB free", mib);
}

/* Under TCP a rank may have a connection to each other one. */
static void
examine_files(struct ar_findings *findings)
{
    struct ar_launcher launcher = {.ranks = 0};
    struct rlimit files;
    ar_launcher_find(&launcher, NULL);
    const rlim_t enough = launcher.ranks > 960 ? (rlim_t)launcher.ranks + 64 : 1024;
    if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur >= enough)
        ar_find(findings, AR_SEVERITY_OK, "limits", NULL, "enough open files are allowed");
    else
        ar_find(findings, AR_SEVERITY_WARNING, "limits",
                "set ulimit -n 4096, or more than the number of ranks; the launcher's daemons on "
                "other nodes have limits of their own",
                "only %llu open files are allowed", (unsigned long long)files.rlim_cur);
}

void
ar_doctor_examine_process(struct ar_findings *findings, const char *program)
{
    struct ar_launcher launcher;
    const bool is_in_job = ar_launcher_find(&launcher, NULL);
    examine_settings(findings, is_in_job);
    examine_preload(findings);
    examine_program(findings, program);
    if (!is_in_job) {
        examine_cores(findings);
        ar_doctor_examine_network(findings, "", 0);
    }
    examine_host(findings);
    ar_doctor_examine_calls(findings, "");
    ar_doctor_examine_xpmem(findings, "");
    examine_shared_memory(findings);
    examine_files(findings);
}
