/* What subcommands share. */
#include "config.h"

#include "cli/cli.h"

#include <errno.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool
is_colored(FILE *stream)
{
    const char *const refused = getenv("NO_COLOR"), *const terminal = getenv("TERM");
    return isatty(fileno(stream)) && (!refused || *refused == '\0') && terminal &&
           strcmp(terminal, "dumb") != 0;
}

const char *
ar_color_begin(FILE *stream, enum ar_color color)
{
    static const char *const escapes[] = {
        [AR_COLOR_TITLE] = "\033[1m",
        [AR_COLOR_GOOD] = "\033[32m",
        [AR_COLOR_WARNING] = "\033[33m",
        [AR_COLOR_BAD] = "\033[31m",
    };
    return is_colored(stream) ? escapes[color] : "";
}

const char *
ar_color_end(FILE *stream)
{
    return is_colored(stream) ? "\033[0m" : "";
}

char *
ar_cli_command(int nranks, int argc, char **argv)
{
    char *text = NULL;
    size_t length;
    FILE *const to = open_memstream(&text, &length);
    if (!to)
        return NULL;
    fprintf(to, "mpiexec -n %d %s", nranks, argv[0]);
    for (int i = 1; i < argc; i++) {
        const char *const quote = strpbrk(argv[i], " ;()*") ? "'" : "";
        fprintf(to, " %s%s%s", quote, argv[i], quote);
    }
    fclose(to);
    return text;
}

int
ar_cli_check_output(const char *option, const char *path, int rank)
{
    int status = AR_EXIT_DONE;
    FILE *const file = rank == 0 && path ? fopen(path, "a") : NULL;
    if (rank == 0 && path && !file) {
        fprintf(stderr, "allreduce %s: cannot write %s: %s\n", option, path, strerror(errno));
        status = AR_EXIT_FAILED;
    }
    if (file)
        fclose(file);
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return status;
}
