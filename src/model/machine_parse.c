/* Machine files: a line for each part of the machine, with names and their values. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "model/machine.h"
#include "schedule/error.h"
#include "select/select.h"
#include "select/words.h"

enum part { RANK, NODE, LEVEL, HOST, NETWORK, SWITCH, TORUS, DRAGONFLY, PARTS };
enum kind { TIME, RATE, SIZE, COUNT, FACTOR, DIMS };

static const char *const parts[] = {"rank",   "node",  "level",     "host", "network",
                                    "switch", "torus", "dragonfly", NULL};

/* The values that a part's line may have.  Where a part may stand several times, the offset is that
 * of the first. */
static const struct value {
    enum part part;
    const char *name;
    enum kind kind;
    bool needed;
    size_t offset;
} values[] = {
#define AT(field) offsetof(struct ar_machine, field)
    {RANK, "reduction", RATE, false, AT(reduce_per_byte)},
    {RANK, "copy", RATE, false, AT(copy_per_byte)},
    {RANK, "access", TIME, false, AT(access)},
    {RANK, "ahead", COUNT, false, AT(ahead)},
    {NODE, "ranks", COUNT, true, AT(ranks_per_node)},
    {NODE, "cores", COUNT, false, AT(cores_per_node)},
    {NODE, "latency", TIME, true, AT(node.latency)},
    {NODE, "bandwidth", RATE, true, AT(node.per_byte)},
    {NODE, "stream", RATE, false, AT(node.stream_per_byte)},
    {NODE, "overhead", TIME, false, AT(node.overhead)},
    {NODE, "memory", RATE, false, AT(memory_per_byte)},
    {NODE, "eager", SIZE, false, AT(node.eager_bytes)},
    {NODE, "handshake", TIME, false, AT(node.handshake)},
    {LEVEL, "ranks", COUNT, true, AT(domains[0].ranks)},
    {LEVEL, "latency", TIME, true, AT(domains[0].latency)},
    {LEVEL, "bandwidth", RATE, true, AT(domains[0].per_byte)},
    {LEVEL, "serve", TIME, false, AT(domains[0].serve)},
    {LEVEL, "link", RATE, false, AT(domains[0].link_per_byte)},
    {LEVEL, "memory", RATE, false, AT(domains[0].memory_per_byte)},
    {LEVEL, "cache", SIZE, false, AT(domains[0].cache_bytes)},
    {HOST, "nodes", COUNT, true, AT(host_nodes)},
    {HOST, "cores", COUNT, true, AT(host_cores)},
    {HOST, "bandwidth", RATE, false, AT(host_per_byte)},
    {NETWORK, "latency", TIME, true, AT(network.latency)},
    {NETWORK, "bandwidth", RATE, true, AT(network.per_byte)},
    {NETWORK, "stream", RATE, false, AT(network.stream_per_byte)},
    {NETWORK, "overhead", TIME, false, AT(network.overhead)},
    {NETWORK, "eager", SIZE, false, AT(network.eager_bytes)},
    {NETWORK, "handshake", TIME, false, AT(network.handshake)},
    {SWITCH, "nodes", COUNT, true, AT(levels[0].nodes)},
    {SWITCH, "latency", TIME, false, AT(levels[0].latency)},
    {SWITCH, "bandwidth", RATE, false, AT(levels[0].per_byte)},
    {SWITCH, "oversubscription", FACTOR, false, 0},
    {TORUS, "dims", DIMS, true, 0},
    {TORUS, "latency", TIME, false, AT(levels[0].latency)},
    {TORUS, "bandwidth", RATE, true, AT(levels[0].per_byte)},
    {DRAGONFLY, "nodes", COUNT, true, AT(levels[0].nodes)},
    {DRAGONFLY, "routers", COUNT, true, AT(routers)},
    {DRAGONFLY, "latency", TIME, false, AT(levels[0].latency)},
    {DRAGONFLY, "bandwidth", RATE, true, AT(levels[0].per_byte)},
    {DRAGONFLY, "global_latency", TIME, false, AT(levels[1].latency)},
    {DRAGONFLY, "global_bandwidth", RATE, true, AT(levels[1].per_byte)},
#undef AT
};

enum { VALUES = sizeof values / sizeof values[0] };

/* Units, spelled exactly, since Gb/s is read as bits by some and as bytes by others; how many ns,
 * or bytes a second, one is. */
struct unit {
    const char *name;
    double factor;
};

static const struct unit times[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {NULL, 0}};
static const struct unit rates[] = {{"Gbit/s", 1e9 / 8},
                                    {"Mbit/s", 1e6 / 8},
                                    {"kbit/s", 1e3 / 8},
                                    {"Kbit/s", 1e3 / 8},
                                    {"bit/s", 1.0 / 8},
                                    {"GB/s", 1e9},
                                    {"MB/s", 1e6},
                                    {"kB/s", 1e3},
                                    {"KB/s", 1e3},
                                    {"B/s", 1},
                                    {NULL, 0}};
static const struct unit none[] = {{"", 1}, {NULL, 0}};

struct parser {
    const char *at;
    const char *line_start;
    int line;
    struct ar_machine *machine;
    bool seen[PARTS];
    double oversubscription[AR_MACHINE_LEVELS]; /* 0: not given */
    struct ar_text *why;
};

/* --- words --- */

static void
tell_place(struct parser *p, const char *at)
{
    ar_text_add(p->why, "%d:%d: ", p->line, (int)(at - p->line_start) + 1);
}

/* Tells what is wrong at a place in the text; false. */
#define REFUSE(p, at, ...) (tell_place(p, at), ar_text_add((p)->why, __VA_ARGS__), false)

static void
skip_blanks(struct parser *p)
{
    p->at += strspn(p->at, " \t\r");
    if (*p->at == '#')
        p->at += strcspn(p->at, "\n");
}

static struct ar_word
take_word(struct parser *p)
{
    const struct ar_word word = {p->at, strcspn(p->at, " \t\r\n#")};
    p->at += word.length;
    skip_blanks(p);
    return word;
}

/* --- values --- */

/* Reads digits, with a point in between or without, whatever the locale, and one of the units. */
static bool
read_measure(double *measure, struct ar_word word, const struct unit *units)
{
    const char *at = word.at, *const last = word.at + word.length;
    double number = 0, place = 1;
    for (; at < last && ar_is_digit(*at); at++)
        number = 10 * number + (*at - '0');
    if (at == word.at)
        return false;
    if (at < last && *at == '.')
        for (at++; at < last && ar_is_digit(*at); at++) {
            place /= 10;
            number += place * (*at - '0');
        }
    const size_t length = (size_t)(last - at);
    while (units->name && (strlen(units->name) != length || memcmp(at, units->name, length) != 0))
        units++;
    if (units->name)
        *measure = number * units->factor;
    return units->name != NULL;
}

/* Bytes a second. */
#define RATE_LEAST 1.0
#define RATE_MOST  1e18

#define TIME_MOST    1e12 /* ns */
#define COUNT_MAX    (1 << 20)
#define DIM_MAX      100 /* a way has no more links than the dimensions' halves */
#define FACTOR_LEAST 1e-6
#define FACTOR_MOST  1e6

static const char *const allowed[] = {
    [TIME] = "a time up to 1000s as in 500ns, 1.5us, 2ms or 1s",
    [RATE] = "a bandwidth from 1B/s to 1000000000GB/s as in 12.5GB/s or 10Gbit/s (powers of 1000)",
    [SIZE] = "bytes as digits with K, M or G, or inf",
    [COUNT] = "a whole number from 1 to 1048576",
    [FACTOR] = "a number from 0.000001 to 1000000",
    [DIMS] = "1 to 4 numbers from 1 to 100 as in 8x8x4"};

/* Tells of 10Gb/s what its writer may have meant. */
static void
tell_ambiguity(struct ar_text *why, struct ar_word word)
{
    static const char unit[] = "b/s";
    const size_t length = strlen(unit);
    if (word.length <= length || memcmp(word.at + word.length - length, unit, length) != 0)
        return;
    const int number = (int)strspn(word.at, "0123456789.");
    static const char *const prefixes[][2] = {{"k", "k"}, {"K", "K"}, {"m", "M"},
                                              {"M", "M"}, {"g", "G"}, {"G", "G"}};
    const char *prefix = "";
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (word.at[number] == *prefixes[i][0])
            prefix = prefixes[i][1];
    ar_text_add(why, ", which may mean bits or bytes: write %.*s%sbit/s or %.*s%sB/s", number,
                word.at, prefix, number, word.at, prefix);
}

static bool
read_bounded(double *value, enum ar_measure measure, struct ar_word word)
{
    if (measure == AR_MEASURE_TIME)
        return read_measure(value, word, times) && *value <= TIME_MOST;
    return read_measure(value, word, rates) && *value >= RATE_LEAST && *value <= RATE_MOST;
}

int
ar_measure_parse(double *value, enum ar_measure measure, struct ar_word word, struct ar_text *why)
{
    double x;
    if (read_bounded(&x, measure, word)) {
        *value = x;
        return AR_OK;
    }
    ar_text_add(why, "cannot be ");
    ar_text_quote(why, word);
    if (measure == AR_MEASURE_RATE)
        tell_ambiguity(why, word);
    ar_text_add(why, "; allowed: %s", allowed[measure == AR_MEASURE_TIME ? TIME : RATE]);
    return AR_ERR_SYNTAX;
}

static bool
read_value(struct parser *p, const struct value *value, struct ar_word word)
{
    struct ar_machine *const m = p->machine;
    const int level = value->part == SWITCH ? m->nlevels - 1 : 0;
    const size_t further = value->part == LEVEL ? (size_t)(m->ndomains - 1) * sizeof m->domains[0]
                                                : (size_t)level * sizeof m->levels[0];
    void *const place = (char *)m + value->offset + further;
    double *const time = place;
    double rate;
    switch (value->kind) {
    case TIME:
        if (!read_bounded(time, AR_MEASURE_TIME, word))
            return false;
        *time = round(*time * 1e3) / 1e3; /* as it is printed */
        return true;
    case RATE:
        if (!read_bounded(&rate, AR_MEASURE_RATE, word))
            return false;
        *(double *)place = 1e9 / rate;
        return true;
    case SIZE:
        return ar_size_parse_word(place, word);
    case COUNT:
        return ar_word_int(word, 1, COUNT_MAX, place);
    case FACTOR:
        return read_measure(&p->oversubscription[level], word, none) &&
               p->oversubscription[level] >= FACTOR_LEAST &&
               p->oversubscription[level] <= FACTOR_MOST;
    default:
        m->ndims = ar_word_dims(word, DIM_MAX, m->dims, AR_MACHINE_DIMS);
        return m->ndims > 0;
    }
}

/* --- lines --- */

static bool
refuse_value(struct parser *p, const struct value *value, struct ar_word word)
{
    tell_place(p, word.at);
    ar_text_add(p->why, "%s cannot be ", value->name);
    ar_text_quote(p->why, word);
    if (value->kind == RATE)
        tell_ambiguity(p->why, word);
    ar_text_add(p->why, "; allowed: %s", allowed[value->kind]);
    return false;
}

static bool
refuse_name(struct parser *p, enum part part, struct ar_word name)
{
    const char *separator = "; allowed: ";
    tell_place(p, name.at);
    ar_text_add(p->why, "%s has no ", parts[part]);
    ar_text_quote(p->why, name);
    for (int i = 0; i < VALUES; i++)
        if (values[i].part == part) {
            ar_text_add(p->why, "%s%s", separator, values[i].name);
            separator = ", ";
        }
    return false;
}

/* Names and their values up to the end of the line. */
static bool
take_values(struct parser *p, enum part part, const char *line)
{
    bool given[VALUES] = {false};
    while (*p->at != '\n' && *p->at != '\0') {
        const struct ar_word name = take_word(p);
        int i = 0;
        while (i < VALUES && !(values[i].part == part && ar_word_is(name, values[i].name)))
            i++;
        if (i == VALUES)
            return refuse_name(p, part, name);
        if (given[i])
            return REFUSE(p, name.at, "%s is given twice; allowed: once", values[i].name);
        const struct ar_word word = take_word(p);
        if (!read_value(p, &values[i], word))
            return refuse_value(p, &values[i], word);
        given[i] = true;
    }
    for (int i = 0; i < VALUES; i++)
        if (values[i].part == part && values[i].needed && !given[i])
            return REFUSE(p, line, "%s needs %s", parts[part], values[i].name);
    return true;
}

/* The name of a level inside a node. */
static bool
begin_level(struct parser *p, const char *line)
{
    struct ar_machine *const m = p->machine;
    if (m->ndomains == AR_MACHINE_DOMAINS)
        return REFUSE(p, line, "more than %d levels inside a node", AR_MACHINE_DOMAINS);
    const struct ar_word name = take_word(p);
    bool is_name = name.length > 0 && name.length < AR_MACHINE_NAME;
    for (size_t i = 0; i < name.length; i++)
        is_name = is_name && ar_is_name_char(name.at[i]);
    if (!is_name || ar_is_digit(*name.at)) {
        tell_place(p, name.at);
        ar_text_add(p->why, "a level cannot be named ");
        ar_text_quote(p->why, name);
        ar_text_add(p->why, "; allowed: a letter, then letters and digits, up to %d, such as l3",
                    AR_MACHINE_NAME - 1);
        return false;
    }
    for (int d = 0; d < m->ndomains; d++)
        if (ar_word_is(name, m->domains[d].name))
            return REFUSE(p, name.at, "level %s is given twice; allowed: once", m->domains[d].name);
    memcpy(m->domains[m->ndomains++].name, name.at, name.length);
    return true;
}

static bool
end_level(struct parser *p, const char *line)
{
    const struct ar_machine_domain *const last = &p->machine->domains[p->machine->ndomains - 1];
    if (p->machine->ndomains == 1)
        return true;
    if (last->ranks % last[-1].ranks > 0)
        return REFUSE(p, line, "%d ranks of level %s are not a multiple of the %d of level %s",
                      last->ranks, last->name, last[-1].ranks, last[-1].name);
    if (last->cache_bytes > 0)
        return REFUSE(p, line, "level %s has a cache; allowed: only for the first level, here %s",
                      last->name, p->machine->domains[0].name);
    return true;
}

/* A network has one shape; switches may be several, each above the one before. */
static bool
begin_part(struct parser *p, enum part part, const char *line)
{
    struct ar_machine *const m = p->machine;
    if (p->seen[part] && part != SWITCH && part != LEVEL)
        return REFUSE(p, line, "%s is given twice; allowed: once", parts[part]);
    p->seen[part] = true;
    if (part == LEVEL)
        return begin_level(p, line);
    if (part < SWITCH)
        return true;
    if (p->seen[SWITCH] + p->seen[TORUS] + p->seen[DRAGONFLY] > 1)
        return REFUSE(p, line, "a network has one topology: switches, a torus or a dragonfly");
    if (m->nlevels == AR_MACHINE_LEVELS)
        return REFUSE(p, line, "more than %d levels of switches", AR_MACHINE_LEVELS);
    m->nlevels += part == DRAGONFLY ? 2 : 1;
    m->shape = part == TORUS       ? AR_SHAPE_TORUS
               : part == DRAGONFLY ? AR_SHAPE_DRAGONFLY
                                   : AR_SHAPE_SWITCHES;
    return true;
}

static bool
end_part(struct parser *p, enum part part, const char *line)
{
    struct ar_level *const levels = p->machine->levels;
    const int top = p->machine->nlevels - 1;
    if (part == LEVEL)
        return end_level(p, line);
    if (part == TORUS)
        levels[0].nodes = 1;
    if (part == DRAGONFLY) {
        if (levels[0].nodes > COUNT_MAX / p->machine->routers)
            return REFUSE(p, line, "%d nodes times %d routers in a group are more than %d",
                          levels[0].nodes, p->machine->routers, COUNT_MAX);
        levels[1].nodes = levels[0].nodes * p->machine->routers;
    }
    if (part != SWITCH)
        return true;
    if (top > 0 && levels[top].nodes % levels[top - 1].nodes > 0)
        return REFUSE(p, line,
                      "%d nodes below a switch are not a multiple of the %d below the one before",
                      levels[top].nodes, levels[top - 1].nodes);
    if (p->oversubscription[top] > 0 && levels[top].per_byte > 0)
        return REFUSE(p, line, "give bandwidth or oversubscription, not both");
    return true;
}

static bool
take_line(struct parser *p)
{
    const char *const line = p->at;
    const struct ar_word word = take_word(p);
    const int part = ar_word_among(word, parts);
    if (ar_word_is(word, "title")) {
        const int length = (int)strcspn(p->at, "\r\n");
        snprintf(p->machine->title, AR_MACHINE_TITLE, "%.*s", length, p->at);
        p->at += strcspn(p->at, "\n");
        return true;
    }
    if (part >= 0)
        return begin_part(p, part, line) && take_values(p, part, line) && end_part(p, part, line);
    tell_place(p, word.at);
    ar_text_quote(p->why, word);
    ar_text_add(p->why, " is not a line of a machine file; allowed: title, ");
    ar_text_list(p->why, parts);
    return false;
}

/* --- the machine --- */

/* The levels inside a node end with the node, and give each rank a core. */
static bool
finish_node(struct parser *p)
{
    const struct ar_machine *const m = p->machine;
    const struct ar_machine_domain *const last = &m->domains[m->ndomains > 0 ? m->ndomains - 1 : 0];
    if (m->host_nodes > 0 && m->cores_per_node > 0)
        return REFUSE(p, p->at, "node and host both have cores; allowed: one of them");
    const int cores = ar_machine_cores(m), hosted = m->host_nodes > 0 ? m->host_nodes : 1;
    if (m->ndomains > 0 && cores > 0 && cores / hosted < m->ranks_per_node)
        return REFUSE(p, p->at,
                      "%d cores are fewer than the %d ranks that share them; with levels each rank "
                      "needs one",
                      cores, m->ranks_per_node * hosted);
    if (m->ndomains > 0 && last->ranks != m->ranks_per_node)
        return REFUSE(p, p->at,
                      "the last level, %s, has %d ranks, but must have all %d of the node",
                      last->name, last->ranks, m->ranks_per_node);
    return true;
}

/* Sets what depends on other lines. */
static bool
finish(struct parser *p)
{
    struct ar_machine *const m = p->machine;
    struct ar_travel *const travels[] = {&m->node, &m->network};
    if (!p->seen[NETWORK])
        return REFUSE(p, p->at, "the line network is missing; it needs latency and bandwidth");
    for (int i = 0; i < 2; i++)
        if (travels[i]->handshake < 0) /* not given: to ask, and to answer */
            travels[i]->handshake = 2 * travels[i]->latency;
    for (int l = 0; l < m->nlevels; l++) {
        if (p->oversubscription[l] <= 0)
            continue;
        const double per_byte = m->network.per_byte * p->oversubscription[l] / m->levels[l].nodes;
        if (per_byte < 1e9 / RATE_MOST || per_byte > 1e9 / RATE_LEAST)
            return REFUSE(p, p->at,
                          "with this oversubscription the bandwidth of the switches of %d nodes is "
                          "outside 1B/s to 1000000000GB/s",
                          m->levels[l].nodes);
        m->levels[l].per_byte = per_byte;
    }
    return finish_node(p);
}

int
ar_machine_parse(struct ar_machine *machine, const char *text, char problem[AR_MACHINE_PROBLEM])
{
    struct ar_text why;
    struct parser p = {.at = text, .line_start = text, .line = 1, .machine = machine, .why = &why};
    ar_text_init(&why, problem, AR_MACHINE_PROBLEM);
    *machine = (struct ar_machine){.ranks_per_node = 1};
    machine->node.eager_bytes = machine->network.eager_bytes = SIZE_MAX;
    machine->node.handshake = machine->network.handshake = -1;
    for (skip_blanks(&p); *p.at != '\0'; skip_blanks(&p)) {
        if (*p.at != '\n') {
            if (!take_line(&p))
                return AR_ERR_SYNTAX;
            continue;
        }
        p.line_start = ++p.at;
        p.line++;
    }
    return finish(&p) ? AR_OK : AR_ERR_SYNTAX;
}
