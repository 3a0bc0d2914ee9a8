/* Open MPI's dynamic rules files, in the classic format, as rules.
 *
 * Source: ompi/mca/coll/tuned of Open MPI 4.1 and 5.0: coll_tuned_dynamic_file.c for what is read,
 * coll_tuned_dynamic_rules.c for which rule applies, coll_tuned_allreduce_decision.c for what
 * becomes of it. */
#include <errno.h>
#include <stdlib.h>

#include "translate/translate.h"

bool
ar_openmpi_takes_segment(const struct ar_counterpart *c)
{
    enum { SEGMENTED_RING = 5 };
    return c->library == AR_LIBRARY_OPENMPI && c->id == SEGMENTED_RING;
}

void
ar_translator_write_openmpi(struct ar_translator *x, struct ar_foreign_rule rule,
                            const struct ar_openmpi_extras *extras, const char *where)
{
    const size_t values[] = {extras->topology, extras->segment, extras->requests};
    const bool is_segmented = ar_openmpi_takes_segment(rule.is);
    for (int i = 0; i < 3; i++)
        if (values[i] > 0 && (i != 1 || !is_segmented))
            ar_translator_note(x, "%s: %s %zu is left out, because Open MPI's %s does not use it",
                               where, extras->words[i], values[i], rule.is->name);
    if (is_segmented && extras->segment == 0) {
        ar_translator_note(x, "%s: Open MPI's %s without %s runs as its ring", where, rule.is->name,
                           extras->words[1]);
        rule.is = ar_counterpart_find(AR_LIBRARY_OPENMPI, ar_word_of("ring"));
    }
    rule.segment = is_segmented ? extras->segment : 0;
    ar_translator_write(x, &rule);
}

/* --- numbers --- */

static void
skip_comments(struct ar_translator *x)
{
    for (;;) {
        x->at += strspn(x->at, " \t\r\n\v\f");
        if (*x->at != '#')
            return;
        x->at += strcspn(x->at, "\n");
    }
}

/* Takes the next number, behind blanks, line ends and comments.  As for Open MPI, one that begins
 * with 0x is hexadecimal, and one that begins with 0 octal. */
static bool
take_number(struct ar_translator *x, const char *what, size_t *number)
{
    skip_comments(x);
    const char *const at = x->at;
    const size_t length = strcspn(at, " \t\r\n\v\f#");
    char *end;
    errno = 0;
    *number = strtoul(at, &end, 0);
    if (ar_is_digit(*at) && end == at + length && errno == 0) {
        x->at = end;
        return true;
    }
    ar_text_add(&x->why, "expected %s (a number)", what);
    if (*at) {
        ar_text_add(&x->why, ", found ");
        ar_text_quote(&x->why, (struct ar_word){at, length});
    }
    if (*at && !ar_is_digit(*at))
        ar_text_add(&x->why, "; files of coll_han and other formats are not translated");
    ar_translator_refuse(x, at);
    return false;
}

/* Does a number follow on the same line? */
static bool
number_follows(const struct ar_translator *x)
{
    return ar_is_digit(x->at[strspn(x->at, " \t")]);
}

/* The line where the reader is. */
static size_t
line_of(const struct ar_translator *x)
{
    size_t line = 1;
    for (const char *c = x->begin; c < x->at; c++)
        line += *c == '\n';
    return line;
}

/* --- what they stand for --- */

/* The communicators under whose size the reader is. */
struct communicators {
    struct ar_bounds ranks;
    bool is_written;   /* else what is read is another collective's, or read ahead */
    bool has_requests; /* may a rule have a count of requests? */
};

static const struct ar_counterpart *
open_mpi_decides(void)
{
    return ar_counterpart_find(AR_LIBRARY_OPENMPI, ar_word_of("ignore"));
}

/* Reads an algorithm with what belongs to it, and where it stands. */
static int
read_rule(struct ar_translator *x, const struct communicators *comms, struct ar_foreign_rule *rule,
          struct ar_openmpi_extras *extras, char where[32])
{
    size_t id;
    skip_comments(x);
    const char *const at = x->at;
    if (!take_number(x, "the algorithm", &id))
        return AR_ERR_SYNTAX;
    snprintf(where, 32, "line %zu", line_of(x));
    if (comms->is_written &&
        !(rule->is = ar_translator_find(x, (struct ar_word){at, (size_t)(x->at - at)})))
        return AR_ERR_SYNTAX;
    extras->requests = 0;
    return take_number(x, "the topology", &extras->topology) &&
                   take_number(x, "the segment size", &extras->segment) &&
                   (!comms->has_requests || !number_follows(x) ||
                    take_number(x, "the number of requests", &extras->requests))
               ? AR_OK
               : AR_ERR_SYNTAX;
}

/* Tells what is wrong with the message size that begins behind at. */
static int
refuse_size(struct ar_translator *x, const char *at, const char *why)
{
    x->at = at;
    skip_comments(x);
    ar_text_add(&x->why, "%s", why);
    return ar_translator_refuse(x, x->at);
}

/* The rules of one size of communicator.  Each holds from its size on, to the next one. */
static int
read_sizes(struct ar_translator *x, const struct communicators *comms)
{
    static const char *const words[] = {"topology", "segment", "request count"};
    struct ar_foreign_rule rule = {.ranks = comms->ranks};
    struct ar_openmpi_extras extras = {.words = words};
    char where[32] = "";
    size_t n, next = 0;
    if (!take_number(x, "the number of rules", &n))
        return AR_ERR_SYNTAX;
    if (n == 0 && comms->is_written) {
        rule.is = open_mpi_decides();
        rule.sizes = AR_ANY_BOUNDS;
        ar_translator_write(x, &rule);
    }
    for (size_t i = 0; i <= n && n > 0; i++) {
        const char *const at = x->at;
        rule.sizes.min = next;
        next = SIZE_MAX;
        if (i < n && !take_number(x, "the message size", &next))
            return AR_ERR_SYNTAX;
        if (i == 0 && next > 0)
            return refuse_size(x, at,
                               "the first message size must be 0, else Open MPI ignores the file; "
                               "a file of coll_han, which has 1 here, is not translated");
        if (i < n && next < rule.sizes.min)
            return refuse_size(x, at, "message sizes must ascend");
        rule.sizes.max = i < n ? next - 1 : SIZE_MAX;
        if (rule.is && next > rule.sizes.min)
            ar_translator_write_openmpi(x, rule, &extras, where);
        if (i < n && read_rule(x, comms, &rule, &extras, where))
            return AR_ERR_SYNTAX;
    }
    return AR_OK;
}

/* The sizes of communicators of one collective.  Each holds from its size on, to the next one; the
 * first one also below its size. */
static int
read_communicators(struct ar_translator *x, bool is_ours, bool has_requests)
{
    size_t n, ranks, next;
    if (!take_number(x, "the number of communicator sizes", &n))
        return AR_ERR_SYNTAX;
    if (n == 0 && is_ours)
        ar_translator_write(x, &(struct ar_foreign_rule){.is = open_mpi_decides(),
                                                         .sizes = AR_ANY_BOUNDS,
                                                         .ranks = AR_ANY_BOUNDS});
    for (size_t i = 0; i < n; i++) {
        struct communicators comms = {.has_requests = has_requests};
        if (!take_number(x, "the communicator size", &ranks))
            return AR_ERR_SYNTAX;
        /* The next one stands behind all rules of this one: they are read twice. */
        struct ar_translator ahead = *x;
        int error = read_sizes(&ahead, &comms);
        next = SIZE_MAX;
        if (!error && i + 1 < n && !take_number(&ahead, "the communicator size", &next))
            error = AR_ERR_SYNTAX;
        if (!error && next <= ranks) {
            ar_text_add(&x->why, "communicator sizes must ascend");
            return ar_translator_refuse(x, x->at);
        }
        if (is_ours && i == 0 && ranks > 2)
            ar_translator_note(x,
                               "line %zu: Open MPI applies the rules of its first size, %zu, "
                               "to smaller communicators, too",
                               line_of(x), ranks);
        comms.ranks =
            (struct ar_bounds){i == 0 ? 0 : ranks, next == SIZE_MAX ? SIZE_MAX : next - 1};
        comms.is_written = is_ours;
        if (error || (error = read_sizes(x, &comms)))
            return error;
    }
    return AR_OK;
}

/* The head: how many collectives follow, and whether rules may have a count of requests. */
static int
read_head(struct ar_translator *x, size_t *ncollectives, bool *has_requests)
{
    static const char head[] = "rule-file-version-";
    size_t version = 1;
    x->at += strspn(x->at, " \t\r\n");
    if (strncmp(x->at, head, sizeof head - 1) == 0) {
        x->at += sizeof head - 1;
        if (!take_number(x, "the version", &version))
            return AR_ERR_SYNTAX;
    }
    *has_requests = version > 1;
    if (version == 0) {
        ar_text_add(&x->why, "there is no version 0; allowed: 1 and above");
        return ar_translator_refuse(x, x->at - 1);
    }
    return take_number(x, "the number of collectives", ncollectives) ? AR_OK : AR_ERR_SYNTAX;
}

int
ar_translator_read_rules_file(struct ar_translator *x)
{
    enum { ALLREDUCE = 2, COLLECTIVES = 22 };
    struct ar_translator ours = {.at = NULL}; /* where the rules for allreduce begin */
    size_t ncollectives = 0, collective;
    bool has_requests;
    if (read_head(x, &ncollectives, &has_requests))
        return AR_ERR_SYNTAX;
    for (size_t i = 0; i < ncollectives; i++) {
        skip_comments(x);
        const char *const at = x->at;
        if (!take_number(x, "the id of the collective", &collective))
            return AR_ERR_SYNTAX;
        if (collective >= COLLECTIVES) {
            ar_text_add(&x->why,
                        "no collective has the id %zu, and Open MPI ignores the file; "
                        "allowed: 0 to %d",
                        collective, COLLECTIVES - 1);
            return ar_translator_refuse(x, at);
        }
        if (collective == ALLREDUCE && ours.at)
            ar_translator_note(x,
                               "line %zu: Open MPI keeps the last of several collectives %d, "
                               "so this one is left out",
                               line_of(&ours), ALLREDUCE);
        if (collective == ALLREDUCE)
            ours = *x;
        if (read_communicators(x, false, has_requests))
            return AR_ERR_SYNTAX;
    }
    skip_comments(x);
    if (*x->at)
        ar_translator_note(x,
                           "line %zu: Open MPI reads no further, because the counts before are "
                           "complete: what follows is left out",
                           line_of(x));
    if (ours.at)
        return read_communicators(&ours, true, has_requests);
    ar_translator_note(x, "the file has no rules for allreduce, which Open MPI then decides");
    fputs("native;\n", x->text);
    return AR_OK;
}
