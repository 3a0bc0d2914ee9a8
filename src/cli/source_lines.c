/* Lines of the source by libdw. */
#include <config.h>

#include "cli/source_lines.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "schedule/grow.h"

/* A file with call sites. */
struct module {
    const struct ar_site *site; /* the first one in it */
    Dwfl *dwfl;
    Dwfl_Module *file; /* NULL: it is not to be asked, and the reason is told */
    bool is_told;
};

struct search {
    struct module *modules;
    size_t n, room;
    time_t ran;
    FILE *reasons;
};

static void
tell(struct search *search, struct module *module, const char *reason)
{
    if (!module->is_told)
        fprintf(search->reasons, "no lines of %s: %s\n", module->site->module, reason);
    module->is_told = true;
}

/* --- the file that ran --- */

/* Of at most so many digits as statistics have. */
static void
print_build_id(char text[AR_BUILD_ID_TEXT], Dwfl_Module *file)
{
    const unsigned char *bytes = NULL;
    GElf_Addr address;
    const int n = dwfl_module_build_id(file, &bytes, &address);
    text[0] = '\0';
    for (int i = 0; i < n && i < (AR_BUILD_ID_TEXT - 1) / 2; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

/* NULL: it is the file that ran. */
static const char *
find_difference(Dwfl_Module *file, const struct ar_site *site, const struct stat *now, time_t ran)
{
    char build_id[AR_BUILD_ID_TEXT];
    print_build_id(build_id, file);
    if (strcmp(build_id, site->build_id) != 0)
        return "it is not the file that ran: its build-id differs";
    if (!*build_id && now->st_mtime > ran)
        return "it has no build-id, and was changed after the run";
    return NULL;
}

static void
open_file(struct search *search, struct module *module)
{
    static char *default_path = NULL;
    static const Dwfl_Callbacks callbacks = {
        .find_debuginfo = dwfl_standard_find_debuginfo,
        .section_address = dwfl_offline_section_address,
        .debuginfo_path = &default_path,
    };
    const char *const path = module->site->module, *reason;
    struct stat now;
    const int error = stat(path, &now) ? errno : S_ISREG(now.st_mode) ? 0 : EINVAL;
    if (error) { /* the name is the file's: it may be a FIFO's, which would be waited for */
        tell(search, module, error == EINVAL ? "it is no regular file" : strerror(error));
        return;
    }
    module->dwfl = dwfl_begin(&callbacks);
    Dwfl_Module *const file =
        module->dwfl ? dwfl_report_offline(module->dwfl, path, path, -1) : NULL;
    if (file && dwfl_report_end(module->dwfl, NULL, NULL) == 0)
        reason = find_difference(file, module->site, &now, search->ran);
    else
        reason = dwfl_errmsg(-1);
    if (reason)
        tell(search, module, reason);
    else
        module->file = file;
}

/* NULL without memory. */
static struct module *
find_module(struct search *search, const struct ar_site *site)
{
    for (size_t i = 0; i < search->n; i++) {
        struct module *const m = &search->modules[i];
        if (strcmp(m->site->module, site->module) == 0 &&
            strcmp(m->site->build_id, site->build_id) == 0)
            return m;
    }
    struct module *const grown =
        ar_grow(search->modules, search->n + 1, &search->room, sizeof *search->modules);
    if (!grown)
        return NULL;
    search->modules = grown;
    grown[search->n] = (struct module){.site = site};
    open_file(search, &grown[search->n]);
    return &grown[search->n++];
}

/* --- a line --- */

/* The unit of the source with this address of the file, which becomes one of its debug
 * information's. */
static Dwarf_Die *
find_unit(Dwfl_Module *file, Dwarf_Addr *address)
{
    GElf_Addr loaded = 0;
    Dwarf_Addr bias = 0;
    dwfl_module_getelf(file, &loaded);
    const Dwarf_Addr at = *address + loaded;
    Dwarf_Die *unit = dwfl_module_addrdie(file, at, &bias);
    /* Clang leaves out the table of addresses. */
    if (!unit)
        do
            unit = dwfl_module_nextcu(file, unit, &bias);
        while (unit && dwarf_haspc(unit, at - bias) <= 0);
    *address = at - bias;
    return unit;
}

/* Where an inlined function is called. */
static void
print_call(FILE *to, Dwarf_Die *function)
{
    Dwarf_Attribute attribute;
    Dwarf_Word file = 0, line = 0;
    Dwarf_Die unit;
    Dwarf_Files *files;
    size_t nfiles;
    dwarf_formudata(dwarf_attr(function, DW_AT_call_file, &attribute), &file);
    dwarf_formudata(dwarf_attr(function, DW_AT_call_line, &attribute), &line);
    const bool has_files = dwarf_diecu(function, &unit, NULL, NULL) &&
                           dwarf_getsrcfiles(&unit, &files, &nfiles) == 0 && file < nfiles;
    const char *const name = has_files ? dwarf_filesrc(files, file, NULL, NULL) : NULL;
    fprintf(to, " inlined at %s:%llu", name ? name : "?", (unsigned long long)line);
}

/* The function, and where it is inlined, all those around it. */
static void
print_functions(FILE *to, Dwarf_Die *unit, Dwarf_Addr address)
{
    Dwarf_Die *innermost = NULL, *around = NULL;
    const int found = dwarf_getscopes(unit, address, &innermost);
    const int n = found > 0 ? dwarf_getscopes_die(&innermost[0], &around) : 0;
    for (int i = 0; i < n; i++) {
        const int tag = dwarf_tag(&around[i]);
        if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine)
            continue;
        const char *const name = dwarf_diename(&around[i]);
        if (name)
            fprintf(to, " (%s)", name);
        if (tag == DW_TAG_subprogram)
            break;
        print_call(to, &around[i]);
    }
    free(innermost);
    free(around);
}

/* False: not known. */
static bool
print_line(FILE *to, Dwfl_Module *file, uint64_t offset)
{
    Dwarf_Addr address = offset - 1; /* in the call, and not behind it */
    Dwarf_Die *const unit = find_unit(file, &address);
    Dwarf_Line *const line = unit ? dwarf_getsrc_die(unit, address) : NULL;
    const char *const name = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
    int number = 0;
    if (!name || dwarf_lineno(line, &number) != 0 || number == 0)
        return false;
    fprintf(to, "%s:%d", name, number);
    print_functions(to, unit, address);
    return true;
}

/* The function by the symbol table.  False: not known. */
static bool
print_symbol(FILE *to, Dwfl_Module *file, uint64_t offset)
{
    GElf_Addr loaded = 0;
    dwfl_module_getelf(file, &loaded);
    const char *const name = dwfl_module_addrname(file, offset - 1 + loaded);
    if (name)
        fprintf(to, "(%s)", name);
    return name;
}

/* *line: NULL where it is not known.  False without memory. */
static bool
find_line(char **line, struct search *search, const struct ar_site *site)
{
    size_t length;
    struct module *const module = find_module(search, site);
    *line = NULL;
    if (!module || !module->file)
        return module != NULL;
    FILE *const to = open_memstream(line, &length);
    if (!to)
        return false;
    const bool has_line = print_line(to, module->file, site->offset);
    const bool is_known = has_line || print_symbol(to, module->file, site->offset);
    const bool is_written = fclose(to) == 0;
    if (!has_line)
        tell(search, module, "no debug information for this code; compile it with -g");
    if (!is_known) {
        free(*line);
        *line = NULL;
    }
    return is_written;
}

/* --- all lines --- */

static time_t
read_date(const char *when)
{
    struct tm tm = {.tm_isdst = -1};
    const char *const end = strptime(when, "%Y-%m-%d %H:%M:%S", &tm);
    return end && !*end ? mktime(&tm) : -1;
}

bool
ar_source_lines_find(struct ar_source_lines *lines, const struct ar_site_rows *rows,
                     const char *when)
{
    struct search search = {.ran = read_date(when)};
    size_t length;
    *lines = (struct ar_source_lines){.n = rows->n};
    search.reasons = open_memstream(&lines->reasons, &length);
    lines->lines = calloc(rows->n + 1, sizeof *lines->lines);
    bool is_done = search.reasons && lines->lines;
    for (size_t i = 0; i < rows->n && is_done; i++)
        if (*rows->rows[i].site.module)
            is_done = find_line(&lines->lines[i], &search, &rows->rows[i].site);
    for (size_t i = 0; i < search.n; i++)
        dwfl_end(search.modules[i].dwfl);
    free(search.modules);
    is_done = search.reasons && fclose(search.reasons) == 0 && is_done;
    if (!is_done)
        ar_source_lines_fini(lines);
    return is_done;
}

void
ar_source_lines_fini(struct ar_source_lines *lines)
{
    for (size_t i = 0; i < lines->n && lines->lines; i++)
        free(lines->lines[i]);
    free(lines->lines);
    free(lines->reasons);
    *lines = (struct ar_source_lines){.n = 0};
}
