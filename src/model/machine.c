#include "model/machine.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "select/select.h"

struct ar_machine
ar_machine_flat(double latency, double per_byte, double reduce_per_byte)
{
    const struct ar_travel travel = {.latency = latency,
                                     .per_byte = per_byte,
                                     .eager_bytes = SIZE_MAX,
                                     .handshake = 2 * latency};
    return (struct ar_machine){
        .title = "flat",
        .reduce_per_byte = reduce_per_byte,
        .ranks_per_node = 1,
        .node = travel,
        .network = travel,
    };
}

int
ar_machine_cores(const struct ar_machine *machine)
{
    return machine->host_nodes > 0 ? machine->host_cores : machine->cores_per_node;
}

int *
ar_machine_place(const struct ar_machine *machine, int nranks)
{
    int *node_of = malloc((size_t)nranks * sizeof *node_of);
    for (int r = 0; node_of && r < nranks; r++)
        node_of[r] = r / machine->ranks_per_node;
    return node_of;
}

/* A domain is named after its first rank. */
void
ar_machine_domains(struct ar_domains *domains, int *of, const struct ar_machine *m,
                   const struct ar_node_index *index, int nranks)
{
    int size[AR_DOMAINS];
    *domains = (struct ar_domains){.nranks = nranks};
    for (int d = 0; d < AR_DOMAINS; d++) {
        size[d] = nranks;
        domains->of[d] = of + (size_t)d * (size_t)nranks;
    }
    for (int l = 0; l < m->ndomains; l++) {
        const int d = ar_word_among(ar_word_of(m->domains[l].name), ar_domain_names);
        if (d >= 0)
            size[d] = m->domains[l].ranks;
    }
    for (int node = 0; node < (index ? index->count : 1); node++) {
        const int *const ranks = index ? index->ranks + index->first[node] : NULL;
        const int n = index ? index->first[node + 1] - index->first[node] : nranks;
        for (int d = 0; d < AR_DOMAINS; d++)
            for (int i = 0; i < n; i++) {
                const int first = i - i % size[d];
                of[(size_t)d * (size_t)nranks + (size_t)(ranks ? ranks[i] : i)] =
                    ranks ? ranks[first] : first;
            }
    }
}

/* --- printing: with a point, whatever the locale --- */

static void
print_number(FILE *out, double x)
{
    const long long thousandths = llround(x * 1000);
    fprintf(out, "%lld", thousandths / 1000);
    if (thousandths % 1000)
        fprintf(out, ".%03lld", thousandths % 1000);
}

static void
print_time(FILE *out, const char *name, double ns)
{
    const bool in_us = ns >= 1e4 && ns == floor(ns);
    fprintf(out, "  %s ", name);
    print_number(out, in_us ? ns / 1e3 : ns);
    fputs(in_us ? "us" : "ns", out);
}

/* Prints a bandwidth, if it is limited, in the largest unit of which it is one or more. */
static void
print_rate(FILE *out, const char *name, double per_byte)
{
    if (per_byte <= 0)
        return;
    fprintf(out, "  %s ", name);
    if (per_byte < 1.0005)
        print_number(out, 1 / per_byte);
    else
        print_number(out, per_byte < 1000.5 ? 1e3 / per_byte : 1e9 / per_byte);
    fputs(per_byte < 1.0005 ? "GB/s" : per_byte < 1000.5 ? "MB/s" : "B/s", out);
}

static void
print_travel(FILE *out, const struct ar_travel *travel)
{
    char size[AR_SIZE_TEXT];
    fputs("  latency ", out);
    print_number(out, travel->latency);
    fputs("ns", out);
    print_rate(out, "bandwidth", travel->per_byte);
    print_rate(out, "stream", travel->stream_per_byte);
    if (travel->overhead > 0)
        print_time(out, "overhead", travel->overhead);
    if (travel->eager_bytes == SIZE_MAX)
        return;
    fprintf(out, "  eager %s", ar_size_print(travel->eager_bytes, size, sizeof size));
    if (travel->handshake != 2 * travel->latency)
        print_time(out, "handshake", travel->handshake);
}

static void
print_domain(FILE *out, const struct ar_machine_domain *d)
{
    char size[AR_SIZE_TEXT];
    fprintf(out, "level      %s  ranks %d  latency ", d->name, d->ranks);
    print_number(out, d->latency);
    fputs("ns", out);
    if (d->serve > 0)
        print_time(out, "serve", d->serve);
    print_rate(out, "bandwidth", d->per_byte);
    if (d->cache_bytes > 0)
        fprintf(out, "  cache %s", ar_size_print(d->cache_bytes, size, sizeof size));
    print_rate(out, "link", d->link_per_byte);
    print_rate(out, "memory", d->memory_per_byte);
    fputc('\n', out);
}

char *
ar_machine_print(const struct ar_machine *m)
{
    char *text = NULL;
    size_t size;
    FILE *const out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    if (m->title[0])
        fprintf(out, "title      %s\n", m->title);
    if (m->reduce_per_byte > 0 || m->copy_per_byte > 0 || m->access > 0 || m->ahead > 0) {
        fputs("rank     ", out);
        print_rate(out, "reduction", m->reduce_per_byte);
        print_rate(out, "copy", m->copy_per_byte);
        if (m->access > 0)
            print_time(out, "access", m->access);
        if (m->ahead > 0)
            fprintf(out, "  ahead %d", m->ahead);
        fputc('\n', out);
    }
    if (m->node.per_byte > 0) {
        fprintf(out, "node       ranks %d", m->ranks_per_node);
        if (m->cores_per_node > 0)
            fprintf(out, "  cores %d", m->cores_per_node);
        print_travel(out, &m->node);
        print_rate(out, "memory", m->memory_per_byte);
        fputc('\n', out);
        for (int i = 0; i < m->ndomains; i++)
            print_domain(out, &m->domains[i]);
    }
    if (m->host_nodes > 0) {
        fprintf(out, "host       nodes %d  cores %d", m->host_nodes, m->host_cores);
        print_rate(out, "bandwidth", m->host_per_byte);
        fputc('\n', out);
    }
    fputs("network  ", out);
    print_travel(out, &m->network);
    fputc('\n', out);
    const int failed = ferror(out);
    if (fclose(out) || failed) {
        free(text);
        return NULL;
    }
    return text;
}
