/* The program: subcommands in a table, one file each.  Exit codes: 0 done, 1 it
 * failed, 2 the command line is wrong, 130 it was interrupted (128 + SIGINT, as of shells). */
#ifndef AR_CLI_H
#define AR_CLI_H

#include <argp.h>
#include <stddef.h>
#include <stdio.h>

#include "algorithms/registry.h"
#include "select/number.h"
#include "select/sizes.h"

struct ar_machine;

enum ar_exit { AR_EXIT_DONE = 0, AR_EXIT_FAILED = 1, AR_EXIT_USAGE = 2, AR_EXIT_INTERRUPTED = 130 };

/* argv[0] is "allreduce SUBCOMMAND"; returns an enum ar_exit. */
typedef int ar_subcommand_fn(int argc, char **argv);

ar_subcommand_fn ar_cli_advise;
ar_subcommand_fn ar_cli_bench;
ar_subcommand_fn ar_cli_bisect;
ar_subcommand_fn ar_cli_convert;
ar_subcommand_fn ar_cli_doctor;
ar_subcommand_fn ar_cli_list;
ar_subcommand_fn ar_cli_explain;
ar_subcommand_fn ar_cli_report;
ar_subcommand_fn ar_cli_run;
ar_subcommand_fn ar_cli_model;
ar_subcommand_fn ar_cli_tune;

/* --- the command line --- */

/* Where the program was built without jansson, ends it, having said that this command or option
 * needs it. */
void ar_cli_need_jansson(const char *command);

/* The text of a file of at most so many bytes, malloced; NULL, having said why behind the command's
 * name and what. */
char *ar_cli_read_text(const char *command, const char *what, const char *path, size_t most);

/* Reads and proves a file with a schedule, which is kept until the program ends.  An enum ar_exit,
 * having said, as this command, what is wrong and where. */
int ar_cli_read_schedule(const struct ar_written_row **made, const char *command, const char *path);

/* Reads the machine of --machine.  An enum ar_exit, having said what is wrong with the file. */
int ar_cli_read_machine(struct ar_machine *machine, const char *command, const char *file);

/* argp_parse with -h, --help, --usage, -V and --version, which every subcommand has.  It ends the
 * program where the command line is wrong or one of these is given. */
void ar_cli_parse_alone(const struct argp *argp, unsigned flags, int argc, char **argv,
                        void *input);

/* The same, but of the ranks of a job only rank 0 says what is wrong, and where it fails it is the
 * first to end. */
void ar_cli_parse(const struct argp *argp, int argc, char **argv, void *input);

/* On stdout: the version, where the library is, for which MPI libraries it has engines, and what a
 * build without jansson leaves out. */
void ar_cli_print_version(void);

/* While all ranks do the same, only rank 0 prints.  From ar_cli_mute_others to ar_cli_unmute the
 * others print nothing, and until ar_cli_part a rank that fails takes care that its node tells
 * why once.  If rank 0 or one that is unmuted has not done so, a muted rank tells what it had to
 * say. */
void ar_cli_mute_others(void);
void ar_cli_unmute(void);
void ar_cli_part(void);

/* Values of options.  What is wrong goes to argp_error, which ends the program. */

/* A whole number from least to most. */
long ar_option_number(struct argp_state *state, const char *option, const char *text, long least,
                      long most);

/* Refuses an output that is the file of an input, or of a link to it.  NULL: there is none. */
void ar_option_apart(struct argp_state *state, const char *option, const char *output,
                     const char *input);

/* A number above 0, or one with a unit as in machine files: microseconds, or gigabytes a second. */
double ar_option_us(struct argp_state *state, const char *option, const char *text);
double ar_option_gbytes(struct argp_state *state, const char *option, const char *text);

/* Seconds: 60, 60s or 5m. */
double ar_option_seconds(struct argp_state *state, const char *option, const char *text);

/* --sizes, whose ranges grow by the factor; text NULL: ours.  *sizes is the caller's to fini. */
void ar_option_sizes(struct argp_state *state, struct ar_sizes *sizes, const char *text,
                     const char *ours, size_t factor);

/* Scratch memory of a call that the model is asked about, where nothing else is said. */
#define AR_CLI_SCRATCH ((size_t)64 << 20)

/* A machine where no other is named: flat, of this latency, bandwidth and reduction. */
#define AR_CLI_LATENCY_US 1
#define AR_CLI_GBYTES     10

/* --- what is printed --- */

/* An interval in three digits: "3.60 to 3.71"; "-" where there is none (NAN).  Returns text. */
#define AR_INTERVAL_TEXT (2 * AR_NUMBER_TEXT + 4)
char *ar_interval_print(double low, double high, char *text, size_t room);

enum ar_color { AR_COLOR_TITLE, AR_COLOR_GOOD, AR_COLOR_WARNING, AR_COLOR_BAD };

/* What begins the colour on this stream and what ends it; both "" where the stream is not a
 * terminal, NO_COLOR is set (https://no-color.org) or TERM is dumb. */
const char *ar_color_begin(FILE *stream, enum ar_color color);
const char *ar_color_end(FILE *stream);

/* The row's parameters with their defaults, as in the grammar but without the
 * parentheses; "" if it takes none. */
void ar_cli_print_parameters(char *text, size_t room, const struct ar_algorithm *row);

/* A line of what the letters in the formulas of its card mean. */
void ar_cli_print_letters(const struct ar_algorithm *row);

#endif
