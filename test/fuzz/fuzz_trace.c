/* A trace, as allreduce report --timeline reads and shows it. */
#include <config.h>

#include "cli/read_timeline.h"
#include "file.h"

bool fuzz_is_taken;

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[FUZZ_PATH];
    const int file = fuzz_file(path, data, size);
    fuzz_is_taken = ar_report_timeline(path, 0, NULL, "/dev/null") == 0;
    close(file);
    return 0;
}
