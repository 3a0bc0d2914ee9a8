/* The texts of ALLREDUCE_VERIFY, ALLREDUCE_TIMEOUT and ALLREDUCE_TRACE: what is watched, and what
 * follows.  Pure.
 *
 *   verify  = '0' | '1' | '1' '/' digits, each with an optional ',' abort | warn | native
 *   timeout = '0' | digits [ '.' digits ] (seconds), with an optional ',' warn | abort
 *   trace   = file, with optional ',' calls '=' first '-' last and ',' memory '=' size
 */
#ifndef AR_SETTINGS_H
#define AR_SETTINGS_H

#include "select/words.h"

/* What happens after a wrong result was reported. */
enum ar_verify_action {
    AR_VERIFY_ABORT, /* the job ends */
    AR_VERIFY_WARN,  /* the program gets the result that it would have got */
    AR_VERIFY_NATIVE /* it gets the MPI library's, now and in all calls on the communicator */
};

/* Which calls are run twice. */
struct ar_verify_setting {
    unsigned every; /* the 1st call is verified, the 1 + every-th, ...; 0: none */
    enum ar_verify_action action;
};

/* What happens after a call was reported that is under way for too long. */
enum ar_timeout_action {
    AR_TIMEOUT_WARN, /* the rank waits on */
    AR_TIMEOUT_ABORT /* the job ends */
};

struct ar_timeout_setting {
    unsigned ms; /* 0: calls may take for ever; else 100 or more */
    enum ar_timeout_action action;
};

/* Which calls' events are kept: of each communicator those with these numbers, from 1. */
struct ar_trace_setting {
    char *file; /* NULL: none.  Owned */
    int first, last;
    size_t memory_bytes; /* that the events of all ranks may take together */
};

#define AR_TRACE_MEMORY       ((size_t)64 << 20) /* unless it is said */
#define AR_TRACE_MEMORY_LEAST 65536
#define AR_TRACE_MEMORY_MOST  ((size_t)1 << 30) /* what one message of MPI's can bring together */

/* AR_OK, or AR_ERR_SYNTAX with why telling column and what is allowed. */
int ar_verify_parse(struct ar_verify_setting *setting, const char *text, struct ar_text *why);
int ar_timeout_parse(struct ar_timeout_setting *setting, const char *text, struct ar_text *why);

/* The same, or AR_ERR_MEMORY; the file's name is not looked at, and is the caller's to free. */
int ar_trace_parse(struct ar_trace_setting *setting, const char *text, struct ar_text *why);

#define AR_VERIFY_TEXT 32 /* room for any setting */

/* As parse reads it; returns text. */
char *ar_verify_print(const struct ar_verify_setting *setting, char *text, size_t room);

#endif
