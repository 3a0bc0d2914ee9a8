/* Which units of a row of them are taken, in ranges: what a heap knows of its memory, without
 * touching it.
 *
 * Every unit belongs to one range: taken, free, or beyond the top, where nothing has been taken
 * yet.  Free ranges have no free neighbours. */
#ifndef AR_UNITS_H
#define AR_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AR_NO_UNIT    UINT32_MAX
#define AR_UNITS_BINS 32

struct ar_unit {
    uint32_t length;     /* of the range that begins or ends here; 0: none does */
    uint32_t next, prev; /* where a free range begins: others of its bin, or AR_NO_UNIT */
    uint8_t state;       /* of that range */
    bool is_first;       /* it begins here */
    bool is_used;        /* it may have been written since its memory was zero */
};

struct ar_units {
    struct ar_unit *unit; /* the caller's, n of them, zeroed */
    uint32_t n;
    uint32_t top;                 /* all before it are taken or free */
    uint32_t free_used;           /* of the free ranges that are used */
    uint32_t bins[AR_UNITS_BINS]; /* the first free range of 2^i to 2^(i+1)-1 units */
};

/* n: less than AR_NO_UNIT. */
void ar_units_init(struct ar_units *units, struct ar_unit *unit, uint32_t n);

/* Takes length (>= 1) units in a row; the first, or AR_NO_UNIT where there are not so many.
 * *is_used: some of them may have been written. */
uint32_t ar_units_take(struct ar_units *units, uint32_t length, bool *is_used);

/* The length of the range that was taken from this unit on; 0 if none was. */
uint32_t ar_units_length(const struct ar_units *units, uint32_t first);

/* Makes the range that was taken from first on shorter, or longer by the units behind it; false,
 * and nothing changes, where these are not free.  is_used: the memory that it loses is not zero. */
bool ar_units_resize(struct ar_units *units, uint32_t first, uint32_t length, bool is_used);

/* Gives the range back.  is_used: its memory is not zero. */
void ar_units_give(struct ar_units *units, uint32_t first, bool is_used);

/* The first unit from this one on where a taken range begins, if from is where a range begins; else
 * AR_NO_UNIT. */
uint32_t ar_units_next_taken(const struct ar_units *units, uint32_t from);

#endif
