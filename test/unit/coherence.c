#include "coherence.h"

#include <stdlib.h>
#include <string.h>

#include "model/lines.h"

static char *
state_of(const struct coherence *c, int core, size_t line)
{
    return &c->state[line * (size_t)c->ncores + (size_t)core];
}

void
coherence_init(struct coherence *c, const struct ar_machine *machine, int ncores, size_t nlines)
{
    *c = (struct coherence){.machine = machine, .ncores = ncores, .nlines = nlines};
    c->state = malloc(nlines * (size_t)ncores);
    c->writer = malloc(nlines * sizeof *c->writer);
    if (!c->state || !c->writer)
        abort();
    memset(c->state, 'I', nlines * (size_t)ncores);
    for (size_t line = 0; line < nlines; line++)
        c->writer[line] = -1;
}

void
coherence_fini(struct coherence *c)
{
    free(c->state);
    free(c->writer);
}

/* Who gives a line to a core that has it not; -1: memory does. */
static int
giver_of(const struct coherence *c, int core, size_t line)
{
    int holder = -1;
    for (int i = 0; i < c->ncores; i++) {
        if (*state_of(c, i, line) == 'I')
            continue;
        if (ar_lines_are_shared(c->machine) && ar_lines_level(c->machine, core, i) == 0)
            return i;
        holder = i;
    }
    return holder < 0 || c->writer[line] < 0 ? holder : c->writer[line];
}

static void
move(struct coherence *c, int core, int giver)
{
    if (giver >= 0)
        c->moved[ar_lines_level(c->machine, core, giver)]++;
}

void
coherence_read(struct coherence *c, int core, size_t line)
{
    if (*state_of(c, core, line) != 'I')
        return;
    const int giver = giver_of(c, core, line);
    move(c, core, giver);
    for (int i = 0; i < c->ncores; i++)
        if (*state_of(c, i, line) != 'I')
            *state_of(c, i, line) = 'S';
    *state_of(c, core, line) = giver >= 0 ? 'S' : 'E';
}

void
coherence_write(struct coherence *c, int core, size_t line)
{
    if (*state_of(c, core, line) == 'I')
        move(c, core, giver_of(c, core, line));
    for (int i = 0; i < c->ncores; i++)
        if (i != core && *state_of(c, i, line) != 'I') {
            *state_of(c, i, line) = 'I';
            c->taken_back++;
        }
    *state_of(c, core, line) = 'M';
    c->writer[line] = core;
}

char
coherence_state(const struct coherence *c, int core, size_t line)
{
    return *state_of(c, core, line);
}
