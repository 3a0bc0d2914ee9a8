#include "record/self.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cores/cpus.h"
#include "select/words.h"

/* Words with blanks between them, as the kernel has them: with a zero byte behind each. */
static void
read_command(char *command, size_t room)
{
    FILE *const file = fopen("/proc/self/cmdline", "re");
    const size_t n = file ? fread(command, 1, room - 1, file) : 0;
    if (file)
        fclose(file);
    command[n] = '\0';
    for (size_t i = 0; i + 1 < n; i++)
        if (command[i] == '\0')
            command[i] = ' ';
}

static void
read_library(char *library, size_t room)
{
    static char version[MPI_MAX_LIBRARY_VERSION_STRING]; /* for a small stack; one thread is here */
    int length;
    PMPI_Get_library_version(version, &length);
    snprintf(library, room, "%.*s", (int)strcspn(version, "\n"), version);
    for (char *tab = library; (tab = strchr(tab, '\t'));)
        *tab = ' ';
}

void
ar_self_describe(struct ar_self *self, int rank)
{
    struct ar_cpus cpus;
    struct ar_text text;
    memset(self, 0, sizeof *self);
    self->rank.rank = rank;
    gethostname(self->rank.host, sizeof self->rank.host - 1);
    ar_cpus_of_thread(&cpus);
    ar_text_init(&text, self->rank.cpus, sizeof self->rank.cpus);
    ar_cpus_print(&text, &cpus);
    read_command(self->command, sizeof self->command);
    read_library(self->library, sizeof self->library);
}
