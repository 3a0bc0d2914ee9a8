/* The text of ALLREDUCE_VERIFY: which calls are run twice, and what a wrong result
 * leads to.  Pure.
 *
 *   text   = '0' | '1' | '1' '/' digits, each with an optional ',' action
 *   action = abort | warn | native
 */
#ifndef AR_VERIFY_SETTING_H
#define AR_VERIFY_SETTING_H

#include "select/words.h"

/* What happens after a wrong result was reported. */
enum ar_verify_action {
    AR_VERIFY_ABORT, /* the job ends */
    AR_VERIFY_WARN,  /* the program gets the result that it would have got */
    AR_VERIFY_NATIVE /* it gets the MPI library's, now and in all calls on the communicator */
};

struct ar_verify_setting {
    unsigned every; /* the 1st call is verified, the 1 + every-th, ...; 0: none */
    enum ar_verify_action action;
};

#define AR_VERIFY_TEXT 32 /* room for any setting */

/* AR_OK, or AR_ERR_SYNTAX with why telling column and what is allowed. */
int ar_verify_parse(struct ar_verify_setting *setting, const char *text, struct ar_text *why);

/* As parse reads it; returns text. */
char *ar_verify_print(const struct ar_verify_setting *setting, char *text, size_t room);

#endif
