/* From the settings of other libraries to rules.  What is read becomes a text of clauses, which the
 * parser of ours reads in the end: it is checked and printed as any other. */
#include <stdlib.h>

#include "select/names.h"
#include "select/translate.h"

static const struct ar_range any = {0, SIZE_MAX};

/* One clause, in segments of so many bytes (0: as its row has them). */
static void
write_clause(struct ar_translator *x, const struct ar_counterpart *c, size_t segment,
             struct ar_range sizes, struct ar_range ranks)
{
    const char *const choice = c->choice ? c->choice : "native";
    if (!c->choice)
        ar_translator_note(x, "%s's %s has no counterpart here: %s", ar_library_titles[c->library],
                           c->name, c->note);
    else if (c->note)
        ar_translator_note(x, "%s's %s is %s: %s", ar_library_titles[c->library], c->name, choice,
                           c->note);
    fputs(choice, x->text);
    if (segment > 0 && c->choice && strcmp(choice, "native") != 0)
        fprintf(x->text, "(segment=%zu)", segment);
    if (memcmp(&sizes, &any, sizeof any) != 0 || memcmp(&ranks, &any, sizeof any) != 0) {
        fputc(':', x->text);
        ar_translator_write_range(x, sizes);
    }
    if (memcmp(&ranks, &any, sizeof any) != 0) {
        fputc('@', x->text);
        ar_translator_write_range(x, ranks);
    }
    fputs(";\n", x->text);
}

/* The counterpart of the word, or NULL with the problem told. */
static const struct ar_counterpart *
find(struct ar_translator *x, struct ar_word word)
{
    const struct ar_counterpart *const c = ar_counterpart_find(x->library, word);
    if (!c) {
        ar_text_add(&x->why, "%s has no allreduce ", ar_library_titles[x->library]);
        ar_text_quote(&x->why, word);
        ar_text_add(&x->why, "; allowed: ");
        ar_text_counterparts(&x->why, x->library);
        ar_translator_refuse(x, word.at);
    }
    return c;
}

static int
read_name(struct ar_translator *x)
{
    const struct ar_word word = ar_word_next(&x->at, "");
    const struct ar_counterpart *const c = find(x, word);
    if (c)
        write_clause(x, c, 0, any, any);
    return c ? AR_OK : AR_ERR_SYNTAX;
}

/* Takes the next number of a rules file, behind blanks, line ends and comments. */
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
    ar_text_add(&x->why, "expected %s, a number", what);
    if (*at) {
        ar_text_add(&x->why, ", found ");
        ar_text_quote(&x->why, (struct ar_word){at, strcspn(at, " \t\r\n")});
    }
    ar_translator_refuse(x, at);
    return false;
}

/* The rules of one size of communicator.  Each holds from its size on, to the next one. */
static int
read_sizes(struct ar_translator *x, bool writes, bool has_requests, struct ar_range ranks)
{
    size_t n, from = 0, next = 0, values[4] = {0};
    const struct ar_counterpart *c = NULL;
    size_t segment = 0;
    if (!take_number(x, "how many rules there are", &n))
        return AR_ERR_SYNTAX;
    for (size_t i = 0; i <= n; i++, from = next) {
        static const char *const what[] = {"an algorithm", "a topology", "a segment's size",
                                           "how many requests"};
        const char *at = x->at;
        next = SIZE_MAX;
        if (i < n && !take_number(x, "a message's size", &next))
            return AR_ERR_SYNTAX;
        if (i < n && next < from) {
            ar_text_add(&x->why, "sizes of messages must ascend");
            return ar_translator_refuse(x, at + strspn(at, " \t\r\n"));
        }
        if (c && writes && next > from)
            write_clause(x, c, segment, (struct ar_range){from, i < n ? next - 1 : SIZE_MAX},
                         ranks);
        for (int k = 0; i < n && k < 3 + has_requests; k++) {
            at = x->at + strspn(x->at, " \t\r\n");
            if (!take_number(x, what[k], &values[k]))
                return AR_ERR_SYNTAX;
            if (k == 0 && writes && !(c = find(x, (struct ar_word){at, (size_t)(x->at - at)})))
                return AR_ERR_SYNTAX;
        }
        segment = values[2];
    }
    return AR_OK;
}

/* The sizes of communicators of one collective.  Each holds from its size on, to the next one. */
static int
read_communicators(struct ar_translator *x, bool writes, bool has_requests)
{
    size_t n, ranks, next;
    if (!take_number(x, "how many sizes of communicators there are", &n))
        return AR_ERR_SYNTAX;
    for (size_t i = 0; i < n; i++) {
        if (!take_number(x, "a communicator's size", &ranks))
            return AR_ERR_SYNTAX;
        /* The next one stands behind all rules of this one: they are read twice. */
        struct ar_translator ahead = *x;
        int error = read_sizes(&ahead, false, has_requests, any);
        next = SIZE_MAX;
        if (!error && i + 1 < n && !take_number(&ahead, "a communicator's size", &next))
            error = AR_ERR_SYNTAX;
        if (!error && next <= ranks) {
            ar_text_add(&x->why, "sizes of communicators must ascend");
            return ar_translator_refuse(x, x->at);
        }
        const size_t last = next == SIZE_MAX ? SIZE_MAX : next - 1;
        if (error || (error = read_sizes(x, writes, has_requests, (struct ar_range){ranks, last})))
            return error;
    }
    return AR_OK;
}

/* Open MPI's dynamic rules file. */
static int
read_rules_file(struct ar_translator *x)
{
    static const char head[] = "rule-file-version-";
    enum { ALLREDUCE = 2 };
    size_t version = 1, ncollectives, collective;
    x->at += strspn(x->at, " \t\r\n");
    if (strncmp(x->at, head, sizeof head - 1) == 0) {
        x->at += sizeof head - 1;
        if (!take_number(x, "a version", &version))
            return AR_ERR_SYNTAX;
    }
    if (version > 2) {
        ar_text_add(&x->why, "versions 1 and 2 of the classic format can be read");
        return ar_translator_refuse(x, x->begin);
    }
    if (!take_number(x, "how many collectives there are", &ncollectives))
        return AR_ERR_SYNTAX;
    for (size_t i = 0; i < ncollectives; i++) {
        if (!take_number(x, "a collective's id", &collective) ||
            read_communicators(x, collective == ALLREDUCE, version == 2))
            return AR_ERR_SYNTAX;
    }
    return AR_OK;
}

/* "0-4k" or "4k"; the end of one range may be the beginning of the next, to which it belongs. */
static bool
take_range(struct ar_translator *x, struct ar_range *r)
{
    const char *at = x->at, *end;
    if (ar_size_parse(&r->min, at, &end) == AR_OK) {
        at = end;
        r->max = r->min;
        if (*at != '-' || ar_size_parse(&r->max, at + 1, &end) == AR_OK) {
            x->at = end;
            return r->max >= r->min;
        }
    }
    return false;
}

/* One token of UCC's: fields with ':' between them, each known by how it begins. */
static int
read_token(struct ar_translator *x)
{
    static const char *const memory_types[] = {"host",         "cuda", "cuda_managed",
                                               "rocm_managed", "rocm", NULL};
    struct ar_range sizes = any, ranks = any;
    const struct ar_counterpart *c = NULL;
    bool ours = true;
    for (int field = 0; *x->at && *x->at != '#'; field++) {
        const struct ar_word word = ar_word_next(&x->at, ":#");
        struct ar_translator inside = *x;
        inside.at = word.at + (*word.at == '[');
        if (*word.at == '@') {
            if (!(c = find(x, (struct ar_word){word.at + 1, word.length - 1})))
                return AR_ERR_SYNTAX;
        } else if (*word.at == '[') {
            if (!take_range(&inside, &ranks) || *inside.at != ']') {
                ar_text_add(&x->why, "expected ranks as in [2-8]");
                return ar_translator_refuse(x, word.at);
            }
        } else if (ar_is_digit(*word.at) && memchr(word.at, '-', word.length)) {
            if (!take_range(&inside, &sizes) || inside.at != word.at + word.length) {
                ar_text_add(&x->why, "expected sizes as in 0-4K");
                return ar_translator_refuse(x, word.at);
            }
        } else if (field == 0) {
            ours = ar_word_is(word, "allreduce");
        } else if (ar_word_is(word, "0")) {
            ours = false; /* a score of 0 forbids it */
        } else if (word.length && !ar_is_digit(*word.at) && !ar_word_is(word, "inf") &&
                   ar_word_among(word, memory_types) < 0) {
            ar_text_add(&x->why,
                        "expected sizes, [ranks], a type of memory, a score or @algorithm");
            return ar_translator_refuse(x, word.at);
        }
        x->at += *x->at == ':';
    }
    x->at += *x->at == '#';
    if (sizes.max != SIZE_MAX && sizes.max > sizes.min)
        sizes.max--;
    if (c && ours)
        write_clause(x, c, 0, sizes, ranks);
    return AR_OK;
}

static int
read_tokens(struct ar_translator *x)
{
    int error = AR_OK;
    while (!error && *x->at)
        error = read_token(x);
    return error;
}

/* NCCL's lists, of which that of allreduce goes before that of all collectives. */
static int
read_lists(struct ar_translator *x)
{
    char names[AR_PROBLEM_TEXT];
    struct ar_text allowed;
    const struct ar_counterpart *one = NULL;
    const char *list = "^";
    ar_text_init(&allowed, names, sizeof names);
    for (bool is_ours = false; *x->at; x->at += *x->at == ';') {
        const struct ar_word part = ar_word_next(&x->at, ";");
        const char *const colon = memchr(part.at, ':', part.length);
        const bool names_us =
            colon && ar_word_is((struct ar_word){part.at, (size_t)(colon - part.at)}, "allreduce");
        if (names_us || (!colon && !is_ours))
            list = names_us ? colon + 1 : part.at;
        is_ours |= names_us;
    }
    for (size_t i = 0; i < ar_counterpart_count(); i++) {
        const struct ar_counterpart *const c = ar_counterpart_at(i);
        const bool but = *list == '^';
        bool is_named = false;
        for (x->at = list + but; *x->at && *x->at != ';'; x->at += *x->at == ',') {
            const struct ar_counterpart *const named = find(x, ar_word_next(&x->at, ",;"));
            if (!named)
                return AR_ERR_SYNTAX;
            is_named |= named == c;
        }
        if (c->library == x->library && is_named != but && c->choice) {
            ar_text_add(&allowed, "%s%s", one ? "," : "", c->choice);
            one = c;
        } else if (c->library == x->library && is_named && !but) {
            ar_translator_note(x, "NCCL's %s has no counterpart here: %s", c->name, c->note);
        }
    }
    if (strchr(names, ','))
        ar_translator_note(
            x, "NCCL chooses among several, as auto does: set ALLREDUCE_ALGO_LIST=%s", names);
    fprintf(x->text, "%s;\n", strchr(names, ',') ? "auto" : one ? one->choice : "native");
    return AR_OK;
}

/* What was read is checked and printed as any other text of rules. */
static int
make_canonical(struct ar_translation *t, struct ar_problem *problem)
{
    struct ar_rules *rules;
    int error = ar_rules_parse_lines(&rules, t->text, problem);
    if (!error) {
        free(t->text);
        t->text = ar_rules_text(rules);
        ar_rules_destroy(rules);
        error = t->text ? AR_OK : AR_ERR_MEMORY;
    }
    if (error)
        ar_translation_fini(t);
    return error;
}

int
ar_translate_from(struct ar_translation *t, enum ar_library library, const char *text,
                  struct ar_problem *problem)
{
    struct ar_translator x;
    int error = AR_ERR_MEMORY;
    if (!ar_translator_begin(&x, t, library, text, problem))
        return ar_translator_end(&x, error);
    const char *const word = text + strspn(text, " \t\r\n");
    switch (library) {
    case AR_LIBRARY_INTEL:
        fputs(text, x.text); /* its grammar is part of ours */
        error = AR_OK;
        break;
    case AR_LIBRARY_OPENMPI: /* a file has several words */
        error = strpbrk(word, " \t\r\n#") ? read_rules_file(&x) : read_name(&x);
        break;
    case AR_LIBRARY_UCC:
        error = read_tokens(&x);
        break;
    case AR_LIBRARY_NCCL:
        error = read_lists(&x);
        break;
    default:
        error = read_name(&x);
    }
    error = ar_translator_end(&x, error);
    return error ? error : make_canonical(t, problem);
}
