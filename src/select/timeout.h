/* The text of ALLREDUCE_TIMEOUT: how long a call may be under way before that is told, and what
 * follows.  Pure.
 *
 *   text    = seconds, with an optional ',' action
 *   seconds = '0' | digits [ '.' digits ]
 *   action  = warn | abort
 */
#ifndef AR_TIMEOUT_SETTING_H
#define AR_TIMEOUT_SETTING_H

#include "select/words.h"

/* What happens after the report. */
enum ar_timeout_action {
    AR_TIMEOUT_WARN, /* the rank waits on */
    AR_TIMEOUT_ABORT /* the job ends */
};

struct ar_timeout_setting {
    unsigned ms; /* 0: calls may take for ever; else 100 or more */
    enum ar_timeout_action action;
};

/* AR_OK, or AR_ERR_SYNTAX with why telling column and what is allowed. */
int ar_timeout_parse(struct ar_timeout_setting *setting, const char *text, struct ar_text *why);

#endif
