/* A trace, as allreduce report --timeline reads and shows it. */
#include <config.h>

#include "cli/timeline.h"
#include "file.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[FUZZ_PATH];
    const int file = fuzz_file(path, data, size);
    ar_report_timeline(path, 0, NULL, "/dev/null");
    close(file);
    return 0;
}
