/* What the statistics say of each place in the program from which allreduce is called.  Pure. */
#ifndef AR_SITES_H
#define AR_SITES_H

#include <stddef.h>
#include <stdint.h>

#define AR_MODULE_TEXT   256
#define AR_BUILD_ID_TEXT 41   /* 20 bytes in hexadecimal digits */
#define AR_SITES_MOST    1024 /* in a table; further ones are put together */
#define AR_SITE_TEXT     (AR_MODULE_TEXT + 24)

/* What the program called. */
enum ar_entry { AR_ENTRY_ALLREDUCE, AR_ENTRY_IALLREDUCE, AR_ENTRY_ALLREDUCE_INIT, AR_ENTRIES };
extern const char *const ar_entry_names[AR_ENTRIES]; /* "MPI_Allreduce", ... */

/* Where a call returns to.  Ranks have modules at different addresses, and may have them at
 * different paths: a site is the same where the entry, the file's name, its build-id and the offset
 * are. */
struct ar_site {
    enum ar_entry entry;         /* AR_ENTRIES: several */
    char module[AR_MODULE_TEXT]; /* the file's path; of a longer one the end; "": the others, that
                                    found no room */
    char build_id[AR_BUILD_ID_TEXT]; /* "": it has none */
    uint64_t offset;                 /* from where the module is loaded: an address in its file */
};

/* The sum of what is known of two times; UINT64_MAX is not known. */
static inline uint64_t
ar_known_sum(uint64_t a, uint64_t b)
{
    return a == UINT64_MAX ? b : b == UINT64_MAX ? a : a + b;
}

/* Calls that follow each other in less than this time are a run.  Other calls of MPI between them
 * are not seen, so the time must be too short for most of these and for what they serve.  A loop
 * that goes on to the next element takes much less. */
#define AR_RUN_GAP_NS 10000

/* Runs from one site: two or more calls in a row on one communicator, alike in count, type and op,
 * which the standard names, without another allreduce between them.  All uint64_t. */
struct ar_call_runs {
    uint64_t runs;
    uint64_t calls; /* of the runs, as the next two */
    uint64_t bytes;
    uint64_t ns;
};

/* A plain block of memory: ranks send it to each other as bytes. */
struct ar_site_row {
    struct ar_site site;
    int ranks;
    uint64_t calls;
    uint64_t bytes;
    uint64_t ns;      /* of timed calls, here and below */
    uint64_t wait_ns; /* of algorithms of ours, as in struct ar_counts; UINT64_MAX: none ran */
    struct ar_call_runs runs;
    int runs_nranks; /* of the largest communicator with runs; 0: there are none */
};

struct ar_site_rows {
    struct ar_site_row *rows;
    size_t n;
    size_t room;
};

/* Rows whose bytes are all zero are none. */
void ar_site_rows_fini(struct ar_site_rows *rows);

/* Adds the numbers to those of the same site.  The ranks are others than it has so far, or their
 * number is 0.  Returns its row, which stays where it is until the next one is added; NULL without
 * memory. */
struct ar_site_row *ar_site_rows_add(struct ar_site_rows *rows, const struct ar_site_row *row);

/* All rows are those of one rank: sets ranks. */
void ar_site_rows_sign(struct ar_site_rows *rows);

/* The longest time first, then the most calls. */
void ar_site_rows_sort(struct ar_site_rows *rows);

/* The file of a path, without its folders. */
const char *ar_module_name(const char *path);

/* "app+0x11f0", or "(others)"; returns text. */
char *ar_site_print(char text[AR_SITE_TEXT], const struct ar_site *site);

/* "MPI_Allreduce", or "-" for several. */
const char *ar_site_entry(const struct ar_site *site);

#endif
