/* What one process finds out by itself. */
#include <config.h>

#include "helper/doctor.h"

#include <dlfcn.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "cli/preload.h"
#include "config/config.h"
#include "config/rank.h"
#include "cores/levels.h"
#include "execute/shared.h"
#include "execute/xpmem.h"
#include "helper/cpu_ticks.h"
#include "select/number.h"
#include "select/words.h"

/* --- settings --- */

void
ar_examine_settings(struct ar_doctor *doctor)
{
    const struct ar_config *const config = doctor->config;
    if (config->broken)
        ar_find_and_advise(
            doctor, config->error ? AR_SEVERITY_WRONG : AR_SEVERITY_WARNING,
            config->error ? "the job would end in its first allreduce; with ALLREDUCE_STRICT=0 "
                            "all its calls would run native"
                          : "all calls run native",
            "%s", config->problem);
    else if (*config->strange)
        ar_find(doctor, AR_SEVERITY_WARNING,
                "ignored, because this library has no such variable: %s", config->strange);
    else
        ar_find(doctor, AR_SEVERITY_OK, "all ALLREDUCE_ variables are understood");
}

void
ar_examine_unused(struct ar_doctor *doctor)
{
    const char *name, *advice;
    size_t i = 0;
    while ((name = ar_config_next_unused(doctor->config, &i, &advice)))
        ar_find_and_advise(doctor, AR_SEVERITY_NOTE, advice,
                           "%s is set but not used for MPI_Allreduce", name);
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
examine_entry(struct ar_doctor *doctor, const char *entry)
{
    const char *const found = strchr(entry, '/') ? NULL : preloaded(entry);
    if (found)
        ar_find(doctor, AR_SEVERITY_OK, "LD_PRELOAD has %s, where the dynamic linker finds %s",
                entry, found);
    else if (strchr(entry, '$'))
        ar_find_and_advise(doctor, AR_SEVERITY_NOTE, NULL,
                           "LD_PRELOAD has %s, whose $ the dynamic linker replaces", entry);
    else if (!strchr(entry, '/'))
        ar_find(doctor, AR_SEVERITY_WRONG,
                "LD_PRELOAD has the bare name %s, which the dynamic linker does not find", entry);
    else if (access(entry, R_OK))
        ar_find(doctor, AR_SEVERITY_WRONG, "LD_PRELOAD has %s: %s", entry, strerror(errno));
    else
        ar_find(doctor, AR_SEVERITY_OK, "LD_PRELOAD has %s", entry);
}

void
ar_examine_preload(struct ar_doctor *doctor)
{
    const char *const value = getenv("LD_PRELOAD");
    char *const entries = strdup(value ? value : "");
    char *rest = entries, *entry;
    while (entries && (entry = strsep(&rest, ": ")))
        if (*entry)
            examine_entry(doctor, entry);
    free(entries);
}

void
ar_examine_library(struct ar_doctor *doctor)
{
    doctor->library = ar_preload_find();
    if (doctor->library)
        ar_find(doctor, AR_SEVERITY_OK, "%s", doctor->library);
    else
        ar_find(doctor, AR_SEVERITY_WRONG, AR_PRELOAD_NAME " is not where it was installed");
}

/* --- the program --- */

/* What keeps it from running under the library, or what could not be told. */
static void
examine_fit(struct ar_doctor *doctor, const struct ar_executable *program)
{
    char *text = NULL;
    size_t length;
    FILE *const to = open_memstream(&text, &length);
    if (!to)
        return;
    const bool refused =
        ar_preload_set(doctor->library) || ar_preload_check(program, doctor->library, to) != 0;
    fclose(to);
    while (length > 0 && text[length - 1] == '\n')
        text[--length] = '\0';
    if (refused || length > 0)
        ar_find(doctor, refused ? AR_SEVERITY_WRONG : AR_SEVERITY_NOTE, "%s", text);
    else
        ar_find(doctor, AR_SEVERITY_OK, "%s takes the library", program->path);
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

void
ar_examine_program(struct ar_doctor *doctor)
{
    struct ar_executable program, module;
    const char *const name = doctor->program;
    const int error = name ? ar_executable_examine(&program, name) : 0;
    if (error)
        ar_find(doctor, AR_SEVERITY_WRONG, "%s: %s", name,
                error == ENOENT && !strchr(name, '/') ? "not found in PATH" : strerror(error));
    if (error || !name || !doctor->library)
        return;
    const struct ar_executable *const looked_at =
        find_mpi4py(&module, &program) ? &module : &program;
    examine_fit(doctor, looked_at);
    if (looked_at->kind == AR_EXECUTABLE_DYNAMIC)
        doctor->linked = ar_executable_libraries(looked_at);
}

/* Whose runtimes are asked about pointers (src/device), by what the names of libraries begin with:
 * what they are loaded by, or load themselves. */
static const struct {
    const char *name;
    const char *libraries[3];
} runtimes[] = {
    {"CUDA", {"libcuda.so", "libcudart.so", NULL}},
    {"HIP", {"libamdhip64.so", NULL}},
    {"Level Zero", {"libze_loader.so", NULL}},
};

enum { RUNTIMES = sizeof runtimes / sizeof runtimes[0] };

/* The name of the first library of the list that the lines tell; length 0: there is none. */
static struct ar_word
find_library(const char *lines, const char *const *libraries)
{
    for (const char *line = lines; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const size_t length = *line == '\t' ? strcspn(line + 1, " \n") : 0;
        const char *const slash = length ? memrchr(line + 1, '/', length) : NULL;
        const char *const name = slash ? slash + 1 : line + 1;
        for (int i = 0; length && libraries[i]; i++)
            if (strncmp(name, libraries[i], strlen(libraries[i])) == 0)
                return (struct ar_word){name, (size_t)(line + 1 + length - name)};
    }
    return (struct ar_word){lines, 0};
}

void
ar_examine_runtime(struct ar_doctor *doctor)
{
    char list[256];
    struct ar_text text;
    if (!doctor->linked)
        return;
    ar_text_init(&text, list, sizeof list);
    for (int i = 0; i < RUNTIMES; i++) {
        const struct ar_word library = find_library(doctor->linked, runtimes[i].libraries);
        if (library.length > 0)
            ar_text_add(&text, "%s%s (%.*s)", text.length ? ", " : "", runtimes[i].name,
                        (int)library.length, library.at);
    }
    if (text.length > 0)
        ar_find(doctor, AR_SEVERITY_NOTE,
                "the program loads %s: calls with device memory go to the MPI library's own "
                "allreduce",
                list);
    else
        ar_find(doctor, AR_SEVERITY_OK,
                "the program is not linked to a runtime for GPUs; one that is loaded later is "
                "found, too");
}

/* --- the kernel --- */

/* Ranks in other containers of the host are found by its boot id. */
void
ar_examine_host(struct ar_doctor *doctor)
{
    if (ar_boot_hash() == 0)
        ar_find(doctor, AR_SEVERITY_NOTE,
                "the kernel's boot id is hidden, as in LXC and systemd-nspawn: ranks in other "
                "containers of this host are not counted");
}

/* What ranks call, tried on this process; each is 0 or -1 with errno. */

static int
try_memfd(void)
{
    const int fd = memfd_create("liballreduce-doctor", MFD_CLOEXEC);
    return fd < 0 ? -1 : close(fd);
}

static int
try_read(void)
{
    char from = 0, to = 1;
    const struct iovec here = {&to, 1}, there = {&from, 1};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1 ? 0 : -1;
}

static int
try_binding(void)
{
    struct ar_cpus cpus;
    return ar_cpus_of_thread(&cpus) && ar_cpus_bind_thread(&cpus) ? 0 : -1;
}

static const struct {
    const char *name;
    int (*try)(void);
    const char *advice;
} calls[] = {
    {"memfd_create", try_memfd,
     "ranks share memory through /dev/shm instead, which must have enough room; allow memfd_create "
     "in the container's filter"},
    {"process_vm_readv", try_read,
     "MPI libraries then copy long messages within a node twice; allow process_vm_readv in the "
     "container's filter (docker: --cap-add SYS_PTRACE)"},
    {"sched_setaffinity", try_binding,
     "launchers cannot bind ranks to cores; allow sched_setaffinity in the container's filter"},
};

/* Has this process a filter of system calls?  False where /proc does not tell. */
static bool
has_filter(const char *root)
{
    char path[256], line[128];
    bool has = false;
    snprintf(path, sizeof path, "%s/proc/self/status", root);
    FILE *const file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        has |= strncmp(line, "Seccomp:", 8) == 0 && strchr(line + 8, '2');
    if (file)
        fclose(file);
    return has;
}

void
ar_examine_calls(struct ar_doctor *doctor)
{
    const bool filtered = has_filter(doctor->root);
    bool is_free = true;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        if (calls[i].try() == 0)
            continue;
        const int error = errno;
        is_free = false;
        ar_find_and_advise(doctor, AR_SEVERITY_WARNING, calls[i].advice, "%s is refused%s: %s",
                           calls[i].name, filtered ? " by a filter of system calls (seccomp)" : "",
                           strerror(error));
    }
    if (is_free)
        ar_find(doctor, AR_SEVERITY_OK,
                "memfd_create, process_vm_readv and sched_setaffinity are allowed%s",
                filtered ? ", by a filter of system calls (seccomp)" : "");
}

static const char *
xpmem_lacks(bool has_device, bool has_library, const char *device)
{
    if (!has_device)
        return "its library is installed, but its module is not loaded (no " AR_XPMEM_DEVICE ")";
    if (!has_library)
        return "its module is loaded, but its library " AR_XPMEM_LIBRARY " is not found";
    return access(device, R_OK | W_OK) ? AR_XPMEM_DEVICE " cannot be opened by this user" : NULL;
}

/* Silent where neither its module nor its library is there. */
void
ar_examine_xpmem(struct ar_doctor *doctor)
{
    char device[256];
    void *const library = dlopen(AR_XPMEM_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
    snprintf(device, sizeof device, "%s" AR_XPMEM_DEVICE, doctor->root);
    const bool has_device = access(device, F_OK) == 0;
    const char *const lacks = xpmem_lacks(has_device, library, device);
    if (!lacks)
        ar_find(doctor, AR_SEVERITY_OK,
                "ranks of a node can read each other's buffers in place: shm(copy=in_place)");
    else if (library || has_device)
        ar_find(doctor, AR_SEVERITY_NOTE, "%s: ranks of a node copy through slots", lacks);
    if (library)
        dlclose(library);
}

/* --- memory and limits --- */

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

void
ar_examine_memory(struct ar_doctor *doctor)
{
    struct statvfs room;
    const int error = try_memory(false), named_error = try_memory(true);
    const bool is_there = statvfs("/dev/shm", &room) == 0;
    const unsigned long long mib =
        is_there ? (unsigned long long)room.f_bavail * room.f_frsize >> 20 : 0;
    if (error && named_error)
        ar_find_and_advise(doctor, AR_SEVERITY_WARNING,
                           "mount /proc and /dev/shm, and allow memfd_create; until then messages "
                           "between the ranks of a node go through MPI",
                           "cannot be shared: through /proc: %s; through /dev/shm: %s",
                           strerror(error), strerror(named_error));
    else if (error)
        ar_find(doctor, mib < ENOUGH_MIB ? AR_SEVERITY_WARNING : AR_SEVERITY_NOTE,
                "can be shared only through /dev/shm, which has %llu MiB free (through /proc: %s)",
                mib, strerror(error));
    else if (named_error || mib < ENOUGH_MIB)
        ar_find(doctor, AR_SEVERITY_NOTE,
                "can be shared through /proc; an MPI library may need /dev/shm, too, which has "
                "%llu MiB free%s%s",
                mib, named_error ? ": " : "", named_error ? strerror(named_error) : "");
    else
        ar_find(doctor, AR_SEVERITY_OK, "can be shared, through /proc; /dev/shm has %llu MiB free",
                mib);
}

/* Under TCP a rank may have a connection to each other one. */
void
ar_examine_files(struct ar_doctor *doctor)
{
    struct ar_launcher launcher = {.ranks = 0};
    struct rlimit files;
    ar_launcher_find(&launcher, NULL);
    const rlim_t enough = launcher.ranks > 960 ? (rlim_t)launcher.ranks + 64 : 1024;
    if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur >= enough)
        ar_find(doctor, AR_SEVERITY_OK, "enough open files are allowed");
    else
        ar_find(doctor, AR_SEVERITY_WARNING, "only %llu open files are allowed",
                (unsigned long long)files.rlim_cur);
}

/* --- cores --- */

/* Of a process that is no rank: those are looked at together. */
void
ar_examine_cores(struct ar_doctor *doctor)
{
    struct ar_seat mine = {.quotas = ar_cpu_quotas_find(doctor->root)};
    struct ar_cpus online;
    char levels[128];
    struct ar_text text;
    ar_cpus_of_thread(&mine.cpus);
    ar_cpus_find_online(&online, doctor->root);
    ar_text_init(&text, levels, sizeof levels);
    for (int level = 0; level < AR_CPU_LEVELS; level++) {
        const int n = ar_cpu_domains_count(doctor->root, (enum ar_cpu_level)level, &online);
        if (n > 0)
            ar_text_add(&text, "%s%d %s%s", text.length ? ", " : ": ", n,
                        ar_cpu_level_name((enum ar_cpu_level)level), ar_plural((size_t)n));
    }
    ar_find(doctor, AR_SEVERITY_OK, "%ld CPUs online%s; %d for this process",
            sysconf(_SC_NPROCESSORS_ONLN), levels, ar_cpus_count(&mine.cpus));
    doctor->nodes = calloc(1, sizeof *doctor->nodes);
    if (!doctor->nodes)
        return;
    doctor->nnodes = 1;
    ar_node_tell_quota(doctor->nodes, &mine, 1);
    ar_node_tell_load(doctor->nodes, &mine.cpus);
}

void
ar_node_tell_load(struct ar_node_told *node, const struct ar_cpus *cpus)
{
    const struct timespec pause = {.tv_nsec = 200000000};
    struct ar_cpu_ticks *const from = ar_cpu_ticks_read(cpus);
    struct ar_cpu_ticks *to = NULL;
    node->cpus = ar_cpus_count(cpus);
    node->busy = -1;
    if (from && nanosleep(&pause, NULL) == 0)
        to = ar_cpu_ticks_read(cpus);
    if (to) {
        const struct ar_cpu_use use = ar_cpu_ticks_compare(from, to);
        node->busy = use.work + use.interrupts;
    }
    free(from);
    free(to);
}

void
ar_examine_load(struct ar_doctor *doctor)
{
    for (int i = 0; i < doctor->nnodes; i++) {
        const struct ar_node_told *const node = &doctor->nodes[i];
        const char *const at = node->host, *const colon = *at ? ": " : "";
        if (node->busy < 0)
            ar_find_and_advise(doctor, AR_SEVERITY_NOTE, NULL,
                               "%s%s/proc/stat does not show what other processes do", at, colon);
        else if (node->busy > AR_QUIET_CPUS)
            ar_find(doctor, AR_SEVERITY_WARNING, "%s%sother processes keep %.1f of %d CPU%s busy",
                    at, colon, node->busy, node->cpus, ar_plural((size_t)node->cpus));
        else
            ar_find(doctor, AR_SEVERITY_OK, "%s%sno other process uses these CPUs", at, colon);
    }
}
