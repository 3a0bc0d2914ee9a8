/* Machine files: a line for each part of the machine, in it names with their values. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "model/machine.h"
#include "schedule/error.h"
#include "select/select.h"
#include "select/words.h"

enum part { RANK, NODE, NETWORK, SWITCH, TORUS, DRAGONFLY, PARTS };
enum kind { TIME, RATE, SIZE, COUNT, FACTOR, SHARING, DIMS };

static const char *const parts[PARTS] = {"rank", "node", "network", "switch", "torus", "dragonfly"};

/* A value that a part's line may have.  Those of a level are at their places in level 0. */
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
    {NODE, "ranks", COUNT, true, AT(ranks_per_node)},
    {NODE, "latency", TIME, true, AT(node.latency)},
    {NODE, "bandwidth", RATE, true, AT(node.per_byte)},
    {NODE, "stream", RATE, false, AT(node.stream_per_byte)},
    {NODE, "overhead", TIME, false, AT(node.overhead)},
    {NODE, "memory", RATE, false, AT(memory_per_byte)},
    {NODE, "eager", SIZE, false, AT(node.eager_bytes)},
    {NODE, "handshake", TIME, false, AT(node.handshake)},
    {NETWORK, "latency", TIME, true, AT(network.latency)},
    {NETWORK, "bandwidth", RATE, true, AT(network.per_byte)},
    {NETWORK, "stream", RATE, false, AT(network.stream_per_byte)},
    {NETWORK, "overhead", TIME, false, AT(network.overhead)},
    {NETWORK, "eager", SIZE, false, AT(network.eager_bytes)},
    {NETWORK, "handshake", TIME, false, AT(network.handshake)},
    {NETWORK, "sharing", SHARING, false, 0},
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

/* Units, longer names before those that they begin with; how many ns, or bytes a second, one is. */
struct unit {
    const char *name;
    double factor;
};

static const struct unit times[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {NULL, 0}};
static const struct unit rates[] = {
    {"gbit/s", 1e9 / 8}, {"mbit/s", 1e6 / 8}, {"kbit/s", 1e3 / 8}, {"gb/s", 1e9},
    {"mb/s", 1e6},       {"kb/s", 1e3},       {"b/s", 1},          {NULL, 0}};
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

static bool
refuse(struct parser *p, const char *at)
{
    ar_text_add(p->why, "%d:%d: ", p->line, (int)(at - p->line_start) + 1);
    return false;
}

static void
skip_blanks(struct parser *p)
{
    p->at += strspn(p->at, " \t\r");
    if (*p->at == '#')
        p->at += strcspn(p->at, "\n");
}

static bool
at_line_end(const struct parser *p)
{
    return *p->at == '\n' || *p->at == '\0';
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

/* Digits, with a point in between or without, whatever the locale; *end behind them. */
static bool
read_number(double *number, struct ar_word word, const char **end)
{
    const char *at = word.at, *const last = word.at + word.length;
    double x = 0, unit = 1;
    for (; at < last && ar_is_digit(*at); at++)
        x = 10 * x + (*at - '0');
    const bool has_digits = at > word.at;
    if (has_digits && at < last && *at == '.')
        for (at++; at < last && ar_is_digit(*at); at++) {
            unit /= 10;
            x += unit * (*at - '0');
        }
    *number = x;
    *end = at;
    return has_digits;
}

static bool
read_measure(double *measure, struct ar_word word, const struct unit *units)
{
    const char *end;
    double number;
    if (!read_number(&number, word, &end))
        return false;
    const struct ar_word rest = {end, (size_t)(word.at + word.length - end)};
    for (; units->name; units++) {
        size_t i = 0;
        while (i < rest.length && ar_name_char(rest.at[i]) == units->name[i])
            i++;
        if (i == rest.length && units->name[i] == '\0') {
            *measure = number * units->factor;
            return true;
        }
    }
    return false;
}

static void
set_double(struct ar_machine *m, size_t offset, double x)
{
    memcpy((char *)m + offset, &x, sizeof x);
}

/* Bytes a second. */
#define RATE_LEAST 1.0
#define RATE_MOST  1e18

#define TIME_MOST 1e12 /* ns */

static bool
read_rate(struct ar_machine *m, size_t offset, struct ar_word word)
{
    double rate;
    if (!read_measure(&rate, word, rates) || rate < RATE_LEAST || rate > RATE_MOST)
        return false;
    set_double(m, offset, 1e9 / rate);
    return true;
}

static bool
read_time(struct ar_machine *m, size_t offset, struct ar_word word)
{
    double time;
    if (!read_measure(&time, word, times) || time > TIME_MOST)
        return false;
    set_double(m, offset, round(time * 1e3) / 1e3); /* as it is printed */
    return true;
}

static bool
read_size(struct ar_machine *m, size_t offset, struct ar_word word)
{
    const char *end;
    size_t bytes;
    if (ar_size_parse(&bytes, word.at, &end) || end != word.at + word.length)
        return false;
    memcpy((char *)m + offset, &bytes, sizeof bytes);
    return true;
}

#define COUNT_MAX (1 << 20)

static bool
read_count(struct ar_machine *m, size_t offset, struct ar_word word)
{
    int n;
    if (!ar_word_int(word, 1, COUNT_MAX, &n))
        return false;
    memcpy((char *)m + offset, &n, sizeof n);
    return true;
}

#define DIM_MAX 100 /* a way has no more links than the dimensions' halves */

static bool
read_dims(struct ar_machine *m, struct ar_word word)
{
    const char *at = word.at, *const last = word.at + word.length;
    m->ndims = 0;
    while (m->ndims < AR_MACHINE_DIMS) {
        struct ar_word number = {at, 0};
        while (at < last && *at != 'x')
            at++;
        number.length = (size_t)(at - number.at);
        if (!ar_word_int(number, 1, DIM_MAX, &m->dims[m->ndims++]))
            return false;
        if (at++ == last)
            return true;
    }
    return false;
}

#define FACTOR_LEAST 1e-6
#define FACTOR_MOST  1e6

static bool
read_factor(struct parser *p, struct ar_word word)
{
    double *const factor = &p->oversubscription[p->machine->nlevels - 1];
    return read_measure(factor, word, none) && *factor >= FACTOR_LEAST && *factor <= FACTOR_MOST;
}

static bool
read_sharing(struct ar_machine *m, struct ar_word word)
{
    m->sharing = ar_word_is(word, "fair") ? AR_SHARING_FAIR : AR_SHARING_QUEUE;
    return m->sharing == AR_SHARING_FAIR || ar_word_is(word, "queue");
}

static bool
read_value(struct parser *p, const struct value *value, struct ar_word word)
{
    struct ar_machine *const m = p->machine;
    const size_t level = value->part == SWITCH ? (size_t)(m->nlevels - 1) : 0;
    const size_t offset = value->offset + level * sizeof m->levels[0];
    switch (value->kind) {
    case TIME:
        return read_time(m, offset, word);
    case RATE:
        return read_rate(m, offset, word);
    case SIZE:
        return read_size(m, offset, word);
    case COUNT:
        return read_count(m, offset, word);
    case FACTOR:
        return read_factor(p, word);
    case SHARING:
        return read_sharing(m, word);
    default:
        return read_dims(m, word);
    }
}

static bool
refuse_value(struct parser *p, const struct value *value, struct ar_word word)
{
    static const char *const allowed[] = {
        "a time up to 1000s as in 500ns, 1.5us, 2ms or 1s",
        "a bandwidth from 1B/s to 1000000000GB/s as in 12.5GB/s or 10Gbit/s (powers of 1000)",
        "bytes as digits with K, M or G, or inf",
        "a whole number from 1 to 1048576",
        "a number from 0.000001 to 1000000",
        "queue or fair",
        "1 to 4 numbers from 1 to 100 as in 8x8x4"};
    refuse(p, word.at);
    ar_text_add(p->why, "%s cannot be ", value->name);
    ar_text_quote(p->why, word);
    ar_text_add(p->why, "; allowed: %s", allowed[value->kind]);
    return false;
}

/* --- lines --- */

static const struct value *
find_value(enum part part, struct ar_word name)
{
    for (int i = 0; i < VALUES; i++)
        if (values[i].part == part && ar_word_is(name, values[i].name))
            return &values[i];
    return NULL;
}

static bool
refuse_name(struct parser *p, enum part part, struct ar_word name)
{
    const char *separator = "";
    refuse(p, name.at);
    ar_text_add(p->why, "%s has no ", parts[part]);
    ar_text_quote(p->why, name);
    ar_text_add(p->why, "; allowed: ");
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
    while (!at_line_end(p)) {
        const struct ar_word name = take_word(p);
        const struct value *const value = find_value(part, name);
        if (!value)
            return refuse_name(p, part, name);
        if (given[value - values]) {
            refuse(p, name.at);
            ar_text_add(p->why, "%s stands twice; each is allowed once", value->name);
            return false;
        }
        const struct ar_word word = take_word(p);
        if (!read_value(p, value, word))
            return refuse_value(p, value, word);
        given[value - values] = true;
    }
    for (int i = 0; i < VALUES; i++)
        if (values[i].part == part && values[i].needed && !given[i]) {
            refuse(p, line);
            ar_text_add(p->why, "%s needs %s", parts[part], values[i].name);
            return false;
        }
    return true;
}

static void
take_title(struct parser *p)
{
    size_t length = strcspn(p->at, "\r\n");
    if (length >= AR_MACHINE_TITLE)
        length = AR_MACHINE_TITLE - 1;
    memcpy(p->machine->title, p->at, length);
    p->machine->title[length] = '\0';
    p->at += strcspn(p->at, "\n");
}

static bool
refuse_part(struct parser *p, struct ar_word word)
{
    refuse(p, word.at);
    ar_text_quote(p->why, word);
    ar_text_add(p->why, " is no part of a machine; allowed: title");
    for (int i = 0; i < PARTS; i++)
        ar_text_add(p->why, ", %s", parts[i]);
    return false;
}

/* A network has one shape; switches may be several, each above the one before. */
static bool
begin_part(struct parser *p, enum part part, const char *line)
{
    struct ar_machine *const m = p->machine;
    const bool is_shape = part >= SWITCH;
    if (p->seen[part] && part != SWITCH) {
        refuse(p, line);
        ar_text_add(p->why, "%s stands twice; allowed once", parts[part]);
        return false;
    }
    p->seen[part] = true;
    if (is_shape && p->seen[SWITCH] + p->seen[TORUS] + p->seen[DRAGONFLY] > 1) {
        refuse(p, line);
        ar_text_add(p->why, "a network has one shape: switches, or a torus, or a dragonfly");
        return false;
    }
    if (is_shape && m->nlevels == AR_MACHINE_LEVELS) {
        refuse(p, line);
        ar_text_add(p->why, "more than %d levels of switches", AR_MACHINE_LEVELS);
        return false;
    }
    if (is_shape)
        m->nlevels += part == DRAGONFLY ? 2 : 1;
    if (part == TORUS)
        m->shape = AR_SHAPE_TORUS;
    if (part == DRAGONFLY)
        m->shape = AR_SHAPE_DRAGONFLY;
    return true;
}

static bool
end_part(struct parser *p, enum part part, const char *line)
{
    struct ar_machine *const m = p->machine;
    const int top = m->nlevels - 1;
    if (part == TORUS)
        m->levels[0].nodes = 1;
    if (part == DRAGONFLY && m->levels[0].nodes > COUNT_MAX / m->routers) {
        refuse(p, line);
        ar_text_add(p->why, "%d nodes times %d routers in a group are more than %d",
                    m->levels[0].nodes, m->routers, COUNT_MAX);
        return false;
    }
    if (part == DRAGONFLY)
        m->levels[1].nodes = m->levels[0].nodes * m->routers;
    if (part != SWITCH)
        return true;
    if (top > 0 && m->levels[top].nodes % m->levels[top - 1].nodes > 0) {
        refuse(p, line);
        ar_text_add(p->why,
                    "%d nodes below a switch are no multiple of the %d below the one before",
                    m->levels[top].nodes, m->levels[top - 1].nodes);
        return false;
    }
    if (p->oversubscription[top] > 0 && m->levels[top].per_byte > 0) {
        refuse(p, line);
        ar_text_add(p->why, "give bandwidth or oversubscription, not both");
        return false;
    }
    return true;
}

static bool
take_line(struct parser *p)
{
    const char *const line = p->at;
    const struct ar_word word = take_word(p);
    enum part part = 0;
    if (ar_word_is(word, "title")) {
        take_title(p);
        return true;
    }
    while (part < PARTS && !ar_word_is(word, parts[part]))
        part++;
    if (part == PARTS)
        return refuse_part(p, word);
    return begin_part(p, part, line) && take_values(p, part, line) && end_part(p, part, line);
}

static bool
take_lines(struct parser *p)
{
    for (;;) {
        skip_blanks(p);
        if (*p->at == '\0')
            return true;
        if (*p->at == '\n') {
            p->at++;
            p->line++;
            p->line_start = p->at;
        } else if (!take_line(p)) {
            return false;
        }
    }
}

/* To ask, and to answer, where the file does not say. */
static void
set_handshake(struct ar_travel *travel)
{
    if (travel->handshake < 0)
        travel->handshake = 2 * travel->latency;
}

static bool
set_oversubscribed(struct parser *p)
{
    struct ar_machine *const m = p->machine;
    for (int l = 0; l < m->nlevels; l++) {
        double *const per_byte = &m->levels[l].per_byte;
        if (p->oversubscription[l] <= 0)
            continue;
        *per_byte = m->network.per_byte * p->oversubscription[l] / m->levels[l].nodes;
        if (*per_byte >= 1e9 / RATE_MOST && *per_byte <= 1e9 / RATE_LEAST)
            continue;
        refuse(p, p->at);
        ar_text_add(p->why,
                    "oversubscription leaves the switches of %d nodes no bandwidth from "
                    "1B/s to 1000000000GB/s",
                    m->levels[l].nodes);
        return false;
    }
    return true;
}

/* What depends on other lines. */
static bool
finish(struct parser *p)
{
    struct ar_machine *const m = p->machine;
    if (!p->seen[NETWORK]) {
        refuse(p, p->at);
        ar_text_add(p->why, "no line says network; it needs latency and bandwidth");
        return false;
    }
    set_handshake(&m->node);
    set_handshake(&m->network);
    return set_oversubscribed(p);
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
    return take_lines(&p) && finish(&p) ? AR_OK : AR_ERR_SYNTAX;
}
