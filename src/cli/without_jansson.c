/* What a program that was built without jansson has in the place of what reads and writes JSON by
 * it.  The command line is refused before anything else could happen. */
#include <config.h>

#include "cli/cli.h"
#include "cli/read_timeline.h"
#include "cli/report.h"

int
ar_run_read(struct ar_read_run *run, const char *command, const char *path)
{
    (void)run;
    (void)command;
    (void)path;
    ar_cli_need_jansson("report");
    return AR_EXIT_FAILED;
}

int
ar_run_add(struct ar_read_run *run, const char *path)
{
    return ar_run_read(run, "report", path);
}

int
ar_read_trace_read(struct ar_read_trace *timeline, const char *path)
{
    (void)timeline;
    (void)path;
    ar_cli_need_jansson("report");
    return AR_EXIT_FAILED;
}
