/* Statistics, as allreduce report reads and shows them. */
#include <config.h>

#include "cli/report.h"
#include "file.h"

static void
show(const struct ar_read_run *run)
{
    struct ar_facts facts;
    FUZZ_EXPECT(ar_facts_make(&facts, run, 0));
    ar_report_print(&facts);
    ar_report_print_alarms(&run->table);
    ar_report_write_html("/dev/null", &facts, 1, NULL, 0, &run->table);
    ar_facts_fini(&facts);
}

bool fuzz_is_taken;

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[FUZZ_PATH];
    struct ar_read_run run = {0};
    const int file = fuzz_file(path, data, size);
    fuzz_is_taken = ar_run_read(&run, "report", path) == 0;
    if (fuzz_is_taken)
        show(&run);
    ar_run_fini(&run);
    close(file);
    return 0;
}
