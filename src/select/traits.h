/* The properties of a call beside its size and its number of ranks, and what a clause may demand of
 * them.  Parser, printer and matching share one table.  Pure. */
#ifndef AR_TRAITS_H
#define AR_TRAITS_H

#include <stdbool.h>
#include <stddef.h>

#include "select/words.h"

#define AR_TRAITS_TEXT 512 /* room for any traits */
/* Room for a name of a communicator, as long as MPICH's MPI_MAX_OBJECT_NAME (a longer one is cut),
 * or for patterns of them. */
#define AR_COMM_TEXT 128

/* The predefined ops; AR_OPS stands for one of the program's own. */
enum ar_op {
    AR_SUM,
    AR_PROD,
    AR_MAX,
    AR_MIN,
    AR_LAND,
    AR_LOR,
    AR_LXOR,
    AR_BAND,
    AR_BOR,
    AR_BXOR,
    AR_MAXLOC,
    AR_MINLOC,
    AR_OPS
};

/* Types by what they hold.  That is the same on all ranks, whatever handles they use. */
enum ar_type_class {
    AR_TYPE_INTEGER, /* of any size, signed or not */
    AR_TYPE_FLOAT,   /* floating point of 4 bytes */
    AR_TYPE_DOUBLE,  /* of 8 */
    AR_TYPE_LONG_DOUBLE,
    AR_TYPE_COMPLEX,
    AR_TYPE_LOGICAL,
    AR_TYPE_BYTE,
    AR_TYPE_PAIR,  /* those of maxloc and minloc */
    AR_TYPE_OTHER, /* derived types, and all under an op of the program's own */
    AR_TYPE_CLASSES
};

enum ar_place { AR_OUT_OF_PLACE, AR_IN_PLACE, AR_PLACE_UNKNOWN /* in statistics alone */ };

/* Which traits a clause asks for, as bits. */
enum ar_trait {
    AR_TRAIT_OP = 1,
    AR_TRAIT_TYPE = 2,
    AR_TRAIT_PLACE = 4,
    AR_TRAIT_NODES = 8,
    AR_TRAIT_PER_NODE = 16,
    AR_TRAIT_COMM = 32,
    AR_TRAIT_COMMUTES = 64,
    AR_TRAIT_BLOCK = 128
};

struct ar_bounds {
    size_t min, max;
};

/* What a clause asks for.  Only the traits in asks count; all bounds are inclusive. */
struct ar_traits {
    unsigned asks;     /* of enum ar_trait */
    unsigned ops;      /* of 1 << enum ar_op */
    unsigned types;    /* of 1 << enum ar_type_class */
    unsigned places;   /* of 1 << enum ar_place */
    unsigned commutes; /* of 1 << (does the op commute?) */
    struct ar_bounds nodes, per_node;
    struct ar_bounds block;  /* bytes of the message for each rank, rounded up */
    char comm[AR_COMM_TEXT]; /* patterns with '|' between them */
};

struct ar_request;

/* Sets the trait called name to value.  Returns NULL, or the offending word (in name or
 * value) with the reason and what is allowed in why. */
const char *ar_traits_set(struct ar_traits *traits, struct ar_word name, struct ar_word value,
                          struct ar_text *why);

/* Adds "name=value,...", as ar_traits_set reads them. */
void ar_traits_print(struct ar_text *t, const struct ar_traits *traits);

/* The first trait that the request does not have, as a bit of enum ar_trait; 0 if it has all. */
unsigned ar_traits_missing(const struct ar_traits *traits, const struct ar_request *request);

/* Adds what the request has of the traits in asks, in the same form. */
void ar_request_print(struct ar_text *t, const struct ar_request *request, unsigned asks);

/* Does the name of a communicator match pattern?  '*' stands for any characters, '?' for one;
 * letters compare as in names. */
bool ar_pattern_matches(struct ar_word pattern, const char *name);

#endif
