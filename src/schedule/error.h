/* Error codes of the pure layers. */
#ifndef AR_ERROR_H
#define AR_ERROR_H

enum ar_error {
    AR_OK = 0,
    AR_ERR_MEMORY, /* malloc failed */
    AR_ERR_STEP,   /* an algorithm emitted an illegal step: a bug of ours */
    AR_ERR_PARAM,  /* a parameter out of its range */
    AR_ERR_SYNTAX, /* a text of the user's does not parse */
    AR_ERR_PROOF   /* the checker refuted a schedule */
};

#endif
