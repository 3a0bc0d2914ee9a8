/* allreduce: finds the subcommand and runs it. */
#include "config.h"

#include <argp.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "select/words.h"

struct subcommand {
    const char *name; /* as argv[0] of the subcommand: "allreduce list" */
    ar_subcommand_fn *run;
    const char *help;
};

static const struct subcommand subcommands[] = {
    {"allreduce list", ar_cli_list, "the algorithms: names, parameters, needs, sources"},
    {"allreduce explain", ar_cli_explain,
     "one algorithm drawn, proved and counted; or a text of rules"},
    {"allreduce run", ar_cli_run, "under mpiexec: a program with the library preloaded"},
    {"allreduce bench", ar_cli_bench, "under mpiexec: every algorithm timed beside the MPI's own"},
    {"allreduce tune", ar_cli_tune, "under mpiexec: the fastest for each size, as rules"},
    {"allreduce model", ar_cli_model, "under mpiexec: the constants of this machine, as a file"},
    {"allreduce report", ar_cli_report, "where a run's time in allreduces went, by its statistics"},
};

enum { NSUBCOMMANDS = sizeof subcommands / sizeof subcommands[0] };

static const char *
short_name(const struct subcommand *s)
{
    return strchr(s->name, ' ') + 1;
}

static void
print_help(FILE *file)
{
    fprintf(file, "Usage: allreduce SUBCOMMAND [OPTION...]\n\n");
    for (int i = 0; i < NSUBCOMMANDS; i++)
        fprintf(file, "  %-10s %s\n", short_name(&subcommands[i]), subcommands[i].help);
    fprintf(file, "\n  --version  print the version\n"
                  "  --help     print this; allreduce SUBCOMMAND --help prints more\n");
}

static int
fail_unknown(const char *word)
{
    char text[512];
    struct ar_text why;
    struct ar_nearest nearest;
    ar_text_init(&why, text, sizeof text);
    ar_nearest_init(&nearest, (struct ar_word){word, strlen(word)});
    ar_text_add(&why, "no subcommand ");
    ar_text_quote(&why, nearest.word);
    for (int i = 0; i < NSUBCOMMANDS; i++) {
        const char *const name = short_name(&subcommands[i]);
        ar_nearest_offer(&nearest, (struct ar_word){name, strlen(name)});
    }
    ar_text_suggest(&why, &nearest);
    ar_text_add(&why, "; there are:");
    for (int i = 0; i < NSUBCOMMANDS; i++)
        ar_text_add(&why, " %s", short_name(&subcommands[i]));
    fprintf(stderr, "allreduce: %s\n", text);
    return AR_EXIT_USAGE;
}

int
main(int argc, char **argv)
{
    argp_err_exit_status = AR_EXIT_USAGE;
    if (argc < 2) {
        print_help(stderr);
        return AR_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return AR_EXIT_DONE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("allreduce %s\n", PACKAGE_VERSION);
        return AR_EXIT_DONE;
    }
    for (int i = 0; i < NSUBCOMMANDS; i++)
        if (strcmp(argv[1], short_name(&subcommands[i])) == 0) {
            argv[1] = (char *)subcommands[i].name;
            return subcommands[i].run(argc - 1, argv + 1);
        }
    return fail_unknown(argv[1]);
}
