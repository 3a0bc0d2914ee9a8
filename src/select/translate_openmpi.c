/* Open MPI's dynamic rules files, in the classic format, as rules.
 *
 * Source: ompi/mca/coll/tuned of Open MPI 6: coll_tuned_dynamic_file.c for what is read,
 * coll_tuned_allreduce_decision.c for what becomes of it. */
#include "select/translate.h"

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

/* Takes the next number, behind blanks, line ends and comments. */
static bool
take_number(struct ar_translator *x, const char *what, size_t *number)
{
    const char *end;
    for (;;) {
        x->at += strspn(x->at, " \t\r\n\v\f");
        if (*x->at != '#')
            break;
        x->at += strcspn(x->at, "\n");
    }
    const char *const at = x->at;
    const size_t digits = strspn(at, "0123456789");
    if (digits > 0 && ar_size_parse(number, at, &end) == AR_OK && end == at + digits) {
        x->at = end;
        return true;
    }
    ar_text_add(&x->why, "expected %s (a number)", what);
    if (*at) {
        ar_text_add(&x->why, ", found ");
        ar_text_quote(&x->why, (struct ar_word){at, strcspn(at, " \t\r\n")});
    }
    ar_translator_refuse(x, at);
    return false;
}

/* Does a number follow on the same line? */
static bool
number_follows(const struct ar_translator *x)
{
    return ar_is_digit(x->at[strspn(x->at, " \t")]);
}

/* --- what they stand for --- */

/* The communicators under whose size the reader is. */
struct communicators {
    struct ar_range ranks;
    bool is_written;   /* else what is read is another collective's, or read ahead */
    bool has_requests; /* may a rule have a count of requests? */
};

/* Reads an algorithm with what belongs to it, and where it stands. */
static int
read_rule(struct ar_translator *x, const struct communicators *comms, struct ar_foreign_rule *rule,
          struct ar_openmpi_extras *extras, char where[32])
{
    size_t id, line = 1;
    if (!take_number(x, "the algorithm", &id))
        return AR_ERR_SYNTAX;
    const char *const end = x->at, *begin = end;
    while (begin > x->begin && ar_is_digit(begin[-1]))
        begin--;
    for (const char *c = x->begin; c < begin; c++)
        line += *c == '\n';
    snprintf(where, 32, "line %zu", line);
    if (comms->is_written &&
        !(rule->is = ar_translator_find(x, (struct ar_word){begin, (size_t)(end - begin)})))
        return AR_ERR_SYNTAX;
    extras->requests = 0;
    return take_number(x, "the topology", &extras->topology) &&
                   take_number(x, "the segment size", &extras->segment) &&
                   (!comms->has_requests || !number_follows(x) ||
                    take_number(x, "the number of requests", &extras->requests))
               ? AR_OK
               : AR_ERR_SYNTAX;
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
    for (size_t i = 0; i <= n; i++) {
        const char *const at = x->at;
        rule.sizes.min = next;
        next = SIZE_MAX;
        if (i < n && !take_number(x, "the message size", &next))
            return AR_ERR_SYNTAX;
        if (i < n && next < rule.sizes.min) {
            ar_text_add(&x->why, "message sizes must ascend");
            return ar_translator_refuse(x, at + strspn(at, " \t\r\n"));
        }
        rule.sizes.max = i < n ? next - 1 : SIZE_MAX;
        if (rule.is && next > rule.sizes.min)
            ar_translator_write_openmpi(x, rule, &extras, where);
        if (i < n && read_rule(x, comms, &rule, &extras, where))
            return AR_ERR_SYNTAX;
    }
    return AR_OK;
}

/* The sizes of communicators of one collective.  Each holds from its size on, to the next one;
 * below the first one Open MPI decides. */
static int
read_communicators(struct ar_translator *x, bool is_ours, bool has_requests)
{
    size_t n, ranks, next;
    if (!take_number(x, "the number of communicator sizes", &n))
        return AR_ERR_SYNTAX;
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
        if (is_ours && i == 0 && ranks > 1)
            fprintf(x->text, "native:0-inf@1-%zu;\n", ranks - 1);
        comms.ranks = (struct ar_range){ranks, next == SIZE_MAX ? SIZE_MAX : next - 1};
        comms.is_written = is_ours;
        if (error || (error = read_sizes(x, &comms)))
            return error;
    }
    return AR_OK;
}

int
ar_translator_read_rules_file(struct ar_translator *x)
{
    static const char head[] = "rule-file-version-";
    enum { ALLREDUCE = 2 };
    size_t version = 1, ncollectives, collective;
    x->at += strspn(x->at, " \t\r\n");
    if (strncmp(x->at, head, sizeof head - 1) == 0) {
        x->at += sizeof head - 1;
        if (!take_number(x, "the version", &version))
            return AR_ERR_SYNTAX;
    }
    if (version == 0) {
        ar_text_add(&x->why, "there is no version 0; allowed: 1 and above");
        return ar_translator_refuse(x, x->at - 1);
    }
    if (!take_number(x, "the number of collectives", &ncollectives))
        return AR_ERR_SYNTAX;
    for (size_t i = 0; i < ncollectives; i++) {
        if (!take_number(x, "the id of the collective", &collective) ||
            read_communicators(x, collective == ALLREDUCE, version > 1))
            return AR_ERR_SYNTAX;
    }
    return AR_OK;
}
