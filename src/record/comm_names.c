#include "record/comm_names.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "execute/group.h"
#include "execute/shared.h"
#include "select/words.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define NAMES        64
#define UNKEPT_BYTES 8192
static const char other_names[] = "(others)";
static char names[NAMES][AR_COMM_TEXT];    /* "": none yet.  Under the lock */
static unsigned char unkept[UNKEPT_BYTES]; /* under the lock */
static bool has_unkept;                    /* the same */

void
ar_comm_name_get(char name[AR_COMM_TEXT], MPI_Comm comm)
{
    static const char made_up[] = "MPI COMMUNICATOR "; /* by Open MPI, with a number behind it */
    char whole[MPI_MAX_OBJECT_NAME + 1] = "";
    int length = 0;
    if (PMPI_Comm_get_name(comm, whole, &length) != MPI_SUCCESS ||
        (strncmp(whole, made_up, strlen(made_up)) == 0 && ar_is_digit(whole[strlen(made_up)])))
        *whole = '\0';
    const size_t bytes = strlen(whole);
    size_t end = bytes < AR_COMM_TEXT ? bytes : AR_COMM_TEXT - 1;
    while (end > 0 && ((unsigned char)whole[end] & 0xc0) == 0x80)
        end--;
    snprintf(name, AR_COMM_TEXT, "%.*s", (int)end, whole);
}

/* The bit of a name in a map like unkept. */
static unsigned char *
unkept_byte(unsigned char *map, const char *name, unsigned char *mask)
{
    const uint64_t bit = ar_hash(name) % (8 * UNKEPT_BYTES);
    *mask = (unsigned char)(1U << bit % 8);
    return &map[bit / 8];
}

/* Under the lock. */
static const char *
keep(const char *name)
{
    if (*name == '\0')
        return "";
    for (int i = 0; i < NAMES; i++) {
        if (names[i][0] == '\0')
            snprintf(names[i], sizeof names[i], "%s", name);
        if (strcmp(names[i], name) == 0)
            return names[i];
    }
    unsigned char mask, *const byte = unkept_byte(unkept, name, &mask);
    *byte |= mask;
    has_unkept = true;
    return other_names;
}

const char *
ar_comm_name_keep(const char *name)
{
    pthread_mutex_lock(&lock);
    const char *const kept = keep(name);
    pthread_mutex_unlock(&lock);
    return kept;
}

bool
ar_comm_names_are_kept(void)
{
    pthread_mutex_lock(&lock);
    const bool kept_all = !has_unkept;
    pthread_mutex_unlock(&lock);
    return kept_all;
}

int
ar_comm_names_agree(struct ar_table *table, int rank, MPI_Comm comm)
{
    unsigned char map[UNKEPT_BYTES];
    pthread_mutex_lock(&lock);
    memcpy(map, unkept, sizeof map);
    pthread_mutex_unlock(&lock);
    const int error = ar_reduce_all(map, UNKEPT_BYTES, MPI_BYTE, MPI_BOR, comm);
    if (error)
        return error;
    const size_t nrows = table->nrows;
    struct ar_row *const rows = ar_table_take_rows(table);
    for (size_t i = 0; i < nrows; i++) {
        struct ar_row row = rows[i];
        unsigned char mask, *const byte = unkept_byte(map, row.key.comm, &mask);
        if (*row.key.comm && *byte & mask)
            strncpy(row.key.comm, other_names, sizeof row.key.comm); /* zeros behind it */
        ar_table_add(table, &row);
    }
    free(rows);
    ar_table_sign(table, rank);
    return MPI_SUCCESS;
}
