#include "config/environment.h"

#include <stdlib.h>
#include <string.h>

#define PREFIX_LENGTH (sizeof AR_VARIABLE_PREFIX - 1)

const struct ar_variable ar_variables[AR_VARIABLES] = {
    [AR_VARIABLE_ALGO] = {"ALLREDUCE_ALGO", "CLAUSES", "",
                          "algorithms by message size and ranks, as in ring:64K-inf;butterfly"},
    [AR_VARIABLE_ALGO_LIST] = {"ALLREDUCE_ALGO_LIST", "NAMES", "",
                               "algorithms that auto may pick, separated by commas; empty: all"},
    [AR_VARIABLE_DETERMINISM] = {"ALLREDUCE_DETERMINISM", "none|run|placement|size|order", "none",
                                 "what must not change the bits of rounded results: another run, "
                                 "nodes, size of message, order of ranks"},
    [AR_VARIABLE_MODEL] = {"ALLREDUCE_MODEL", "FILE", "",
                           "a machine file that auto goes by across nodes; unset: measured at the "
                           "start"},
    [AR_VARIABLE_RULES] =
        {"ALLREDUCE_RULES", "FILE", "",
         "a file of clauses, one a line, asked where ALLREDUCE_ALGO says nothing"},
    [AR_VARIABLE_SCRATCH] = {"ALLREDUCE_SCRATCH", "SIZE", "64M",
                             "scratch memory that one communicator may take, at least 64K"},
    [AR_VARIABLE_STATS] =
        {"ALLREDUCE_STATS", "FILE", "",
         "where to write statistics at the end: JSON lines if it ends in .json or "
         ".jsonl, else text"},
    [AR_VARIABLE_STATS_SIGNAL] = {"ALLREDUCE_STATS_SIGNAL", "none|HUP|USR1|USR2", "none",
                                  "a signal at which a rank writes its statistics so far"},
    [AR_VARIABLE_STRICT] = {"ALLREDUCE_STRICT", "0|1", "1",
                            "1: a bad setting is an error; 0: a warning, and the MPI library's own "
                            "allreduce runs"},
    [AR_VARIABLE_TIMEOUT] =
        {"ALLREDUCE_TIMEOUT", "SECONDS", "0",
         "when a rank tells that a call is still under way, and who is awaited; "
         "0: never; with ,warn (default) or ,abort behind it"},
    [AR_VARIABLE_TRANSPORT] = {"ALLREDUCE_TRANSPORT", "auto|mpi", "auto",
                               "what carries the messages of algorithms: shared memory within a "
                               "node, else MPI; or MPI everywhere"},
    [AR_VARIABLE_TUNE] = {"ALLREDUCE_TUNE", "off|online", "off",
                          "online: calls try what may be faster than auto, and the winner stays"},
    [AR_VARIABLE_TUNE_DUMP] = {"ALLREDUCE_TUNE_DUMP", "FILE", "",
                               "where to write what online tuning found, as rules"},
    [AR_VARIABLE_TUNE_OVERHEAD] = {"ALLREDUCE_TUNE_OVERHEAD", "PERCENT", "2",
                                   "of the time in allreduce that online tuning may cost"},
    [AR_VARIABLE_USER_OPS] = {"ALLREDUCE_USER_OPS", "whole|cut", "whole",
                              "whole: an op of the program's own gets all elements in each call; "
                              "cut: it may get a part of them"},
    [AR_VARIABLE_VERBOSE] = {"ALLREDUCE_VERBOSE", "0|1|2", "0",
                             "1: tell at the end on stderr what ran and why; 2: more of it"},
    [AR_VARIABLE_VERIFY] = {"ALLREDUCE_VERIFY", "SHARE", "0",
                            "1 or 1/N: run each (N-th) call natively, too, and compare; "
                            "with ,abort (default) ,warn or ,native behind it"},
    [AR_VARIABLE_WAIT] = {"ALLREDUCE_WAIT", "auto|spin|yield|sleep|block", "auto",
                          "how to wait for other ranks; auto: spin while there is a core for each"},
};

extern char **environ;

enum ar_variable_id
ar_variable_find(struct ar_word name)
{
    enum ar_variable_id id = 0;
    while (id < AR_VARIABLES && (strlen(ar_variables[id].name) != name.length ||
                                 memcmp(ar_variables[id].name, name.at, name.length) != 0))
        id++;
    return id;
}

const char *
ar_variable_value(enum ar_variable_id id)
{
    const char *value = getenv(ar_variables[id].name);
    if (!value || value[strspn(value, " \t\r\n")] == '\0')
        return ar_variables[id].fallback;
    return value;
}

/* Only what follows the prefix tells names apart. */
static void
suggest(struct ar_text *why, struct ar_word name)
{
    struct ar_nearest nearest;
    ar_nearest_init(&nearest,
                    (struct ar_word){name.at + PREFIX_LENGTH, name.length - PREFIX_LENGTH});
    for (int id = 0; id < AR_VARIABLES; id++) {
        const char *const tail = ar_variables[id].name + PREFIX_LENGTH;
        ar_nearest_offer(&nearest, (struct ar_word){tail, strlen(tail)});
    }
    if (nearest.best.length > 0) {
        nearest.best.at -= PREFIX_LENGTH;
        nearest.best.length += PREFIX_LENGTH;
    }
    ar_text_suggest(why, &nearest);
}

bool
ar_environment_has_unknown(struct ar_text *why)
{
    for (char **entry = environ; entry && *entry; entry++) {
        const struct ar_word name = {*entry, strcspn(*entry, "=")};
        if (strncmp(*entry, AR_VARIABLE_PREFIX, PREFIX_LENGTH) != 0 ||
            ar_variable_find(name) != AR_VARIABLES)
            continue;
        ar_text_add(why, "unknown variable ");
        ar_text_quote(why, name);
        suggest(why, name);
        ar_text_add(why, "; allowed: ");
        for (int id = 0; id < AR_VARIABLES; id++)
            ar_text_add(why, "%s%s", id ? ", " : "", ar_variables[id].name);
        return true;
    }
    return false;
}
