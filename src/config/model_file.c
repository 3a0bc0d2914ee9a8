#include "config/model_file.h"

#include <stdlib.h>

#include "config/text_file.h"
#include "schedule/error.h"

int
ar_model_file_read(struct ar_machine *machine, const char *path, struct ar_text *why)
{
    char *text, problem[AR_MACHINE_PROBLEM];
    int error = ar_text_file_read(&text, path, why);
    if (error)
        return error;
    error = ar_machine_parse(machine, text, problem);
    if (error)
        ar_text_add(why, "%s", problem);
    free(text);
    return error;
}
