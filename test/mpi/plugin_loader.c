/* A program without MPI, which loads a module that brings one with it, as interpreters do: no other
 * module sees its symbols.
 *
 * usage: plugin_loader MODULE [FOLDER]   FOLDER: where it goes before that
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
    int (*run)(int argc, char **argv);
    void *const module = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    void *const symbol = module ? dlsym(module, "plugin_main") : NULL;
    if (!symbol || dlsym(RTLD_DEFAULT, "PMPI_Get_library_version") ||
        (argc > 2 && chdir(argv[2]))) {
        fprintf(stderr, "%s\n", module ? "MPI is not private, or no such folder" : dlerror());
        return 99;
    }
    memcpy(&run, &symbol, sizeof run);
    return run(argc, argv);
}
