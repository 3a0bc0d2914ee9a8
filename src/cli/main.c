/* allreduce: finds the subcommand and runs it. */
#include <config.h>

#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "select/words.h"

struct subcommand {
    const char *name;
    ar_subcommand_fn *run;
    const char *help;
};

static const struct subcommand subcommands[] = {
    {"list", ar_cli_list, "list the algorithms: names, parameters, needs, sources"},
    {"explain", ar_cli_explain, "draw, prove and count one algorithm, or explain a text of rules"},
    {"convert", ar_cli_convert,
     "translate settings of MPI libraries, UCC, NCCL and oneCCL to rules, and back"},
    {"run", ar_cli_run, "under mpiexec: run a program with the library preloaded"},
    {"bench", ar_cli_bench, "under mpiexec: time every algorithm beside the MPI library's own"},
    {"tune", ar_cli_tune, "under mpiexec: find the fastest for each size, and write rules"},
    {"model", ar_cli_model, "under mpiexec: measure this machine, and write a machine file"},
    {"doctor", ar_cli_doctor, "find what is wrong with a set-up, and what to do about it"},
    {"advise", ar_cli_advise,
     "find out whether other algorithms make a program faster: runs it, tunes, and compares"},
    {"bisect", ar_cli_bisect,
     "find the choice with which a failing program passes, and for which sizes"},
    {"report", ar_cli_report, "show where a run's time in allreduces went, from its statistics"},
};

enum { NSUBCOMMANDS = sizeof subcommands / sizeof subcommands[0] };

static void
print_help(FILE *file)
{
    fprintf(file, "Usage: allreduce SUBCOMMAND [OPTION...]\n\n");
    for (int i = 0; i < NSUBCOMMANDS; i++)
        fprintf(file, "  %-10s %s\n", subcommands[i].name, subcommands[i].help);
    fprintf(file,
            "\n  -V, --version  print the version, where the library is, and for which MPI "
            "libraries\n"
            "  -h, --help     print this; allreduce SUBCOMMAND --help prints more\n\n"
            "mpiexec -n 4 allreduce run -v --algo ring ./app runs a program with one algorithm. "
            "The manual\nis allreduce(1); allreduce(7) has the environment that the library "
            "reads.\n");
}

static bool
is_among(const char *word, const char *a, const char *b, const char *c)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

static int
fail_unknown(const char *word)
{
    char text[512];
    struct ar_text why;
    struct ar_nearest nearest;
    ar_text_init(&why, text, sizeof text);
    ar_nearest_init(&nearest, ar_word_of(word));
    ar_text_add(&why, "unknown subcommand ");
    ar_text_quote(&why, nearest.word);
    for (int i = 0; i < NSUBCOMMANDS; i++)
        ar_nearest_offer(&nearest, ar_word_of(subcommands[i].name));
    ar_text_suggest(&why, &nearest);
    ar_text_add(&why, "; allowed:");
    for (int i = 0; i < NSUBCOMMANDS; i++)
        ar_text_add(&why, " %s", subcommands[i].name);
    fprintf(stderr, "allreduce: %s\n", text);
    return AR_EXIT_USAGE;
}

static char speaker[32] = "allreduce";

/* At the exit, however the program comes to it: what could not be written is told. */
static void
end_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return;
    fprintf(stderr, "%s: stdout: cannot be written: %s\n", speaker, strerror(errno ? errno : EIO));
    _exit(AR_EXIT_FAILED);
}

int
main(int argc, char **argv)
{
    atexit(end_output);
    argp_err_exit_status = AR_EXIT_USAGE;
    if (argc < 2) {
        print_help(stderr);
        return AR_EXIT_USAGE;
    }
    if (argc > 2 && strcmp(argv[1], "help") == 0) { /* as SUBCOMMAND --help */
        argv[1] = argv[2];
        argv[2] = (char *)"--help";
    }
    if (is_among(argv[1], "-h", "--help", "help")) {
        print_help(stdout);
        return AR_EXIT_DONE;
    }
    if (is_among(argv[1], "-V", "--version", "version")) {
        ar_cli_print_version();
        return AR_EXIT_DONE;
    }
    for (int i = 0; i < NSUBCOMMANDS; i++)
        if (strcmp(argv[1], subcommands[i].name) == 0) {
            snprintf(speaker, sizeof speaker, "allreduce %s", argv[1]);
            argv[1] = speaker;
            return subcommands[i].run(argc - 1, argv + 1);
        }
    return fail_unknown(argv[1]);
}
