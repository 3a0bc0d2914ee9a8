/* Runs a fuzz target on files and on all files in folders: what libFuzzer does with a corpus, for
 * builds without it.  Each input has to be taken, and those named refused-* have to be refused:
 * one that is refused for an error in it would try nothing. */
#include <config.h>

#include <dirent.h>
#include <sys/stat.h>

#include "fuzz.h"

static void
try_file(const char *path)
{
    struct stat about;
    FILE *const file = fopen(path, "rb");
    FUZZ_EXPECT(file && fstat(fileno(file), &about) == 0);
    const size_t size = (size_t)about.st_size;
    uint8_t *const data = malloc(size > 0 ? size : 1);
    FUZZ_EXPECT(data && fread(data, 1, size, file) == size);
    fclose(file);
    fuzz_is_taken = false;
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    const char *const slash = strrchr(path, '/');
    const bool is_to_be_taken = strncmp(slash ? slash + 1 : path, "refused-", 8) != 0;
    if (fuzz_is_taken != is_to_be_taken) {
        fprintf(stderr, "%s is %s\n", path, fuzz_is_taken ? "taken" : "refused");
        exit(1);
    }
}

static int
try_folder(DIR *folder, const char *path)
{
    int n = 0;
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        char name[4096];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        try_file(name);
        n++;
    }
    return n;
}

int
main(int argc, char **argv)
{
    int n = 0;
    for (int i = 1; i < argc; i++) {
        DIR *const folder = opendir(argv[i]);
        if (folder) {
            n += try_folder(folder, argv[i]);
            closedir(folder);
        } else {
            try_file(argv[i]);
            n++;
        }
    }
    printf("%d inputs\n", n);
    return n > 0 ? 0 : 1;
}
