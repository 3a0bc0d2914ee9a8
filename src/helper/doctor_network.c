/* The network: what cards are there and whether they are up, and what the environment tells MPI. */
#include <config.h>

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cores/sysfs.h"
#include "helper/doctor.h"
#include "select/words.h"

#define LEAST_LOCKED ((rlim_t)64 << 20) /* what RDMA needs for a few connections */

extern char **environ;

/* What is there. */
struct network {
    const char *root;
    int nodes;
    int ports, active; /* of InfiniBand and the like */
    int links, up;     /* of Ethernet and the like, but loopback */
    char names[1024];  /* of all devices, a blank before and behind each */
    struct ar_text list;
};

/* --- what is there --- */

/* What a file says, whose line it frees; "" if nothing. */
static void
take_word(char *word, size_t room, char *line)
{
    snprintf(word, room, "%s", line ? line : "");
    free(line);
}

/* Calls look for each entry of the folder, in the order of their names. */
static void
walk(struct network *net, struct ar_findings *findings, const char *folder,
     void (*look)(struct network *, struct ar_findings *, const char *name))
{
    char path[PATH_MAX];
    struct dirent **entries;
    snprintf(path, sizeof path, "%s%s", net->root, folder);
    const int n = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        if (entries[i]->d_name[0] != '.')
            look(net, findings, entries[i]->d_name);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

/* A port of an InfiniBand, Omni-Path or RoCE card. */
static void
look_at_port(struct network *net, struct ar_findings *findings, const char *card, int port)
{
    static const char base[] = "/sys/class/infiniband/%s/ports/%d/%s";
    char state[64], physical[64], rate[64], kind[64];
    take_word(state, sizeof state, ar_sysfs_line(net->root, base, card, port, "state"));
    take_word(physical, sizeof physical, ar_sysfs_line(net->root, base, card, port, "phys_state"));
    take_word(rate, sizeof rate, ar_sysfs_line(net->root, base, card, port, "rate"));
    take_word(kind, sizeof kind, ar_sysfs_line(net->root, base, card, port, "link_layer"));
    if (*state == '\0')
        return;
    net->ports++;
    if (strstr(state, "ACTIVE")) {
        net->active++;
        ar_find(findings, AR_SEVERITY_OK, "network", NULL, "%s port %d (%s) is up, %s", card, port,
                *kind ? kind : "InfiniBand", rate);
    } else {
        ar_find(findings, AR_SEVERITY_WARNING, "network",
                "check ibstat, the cable and, on InfiniBand, the subnet manager; a port that is "
                "not needed does no harm",
                "%s port %d (%s) is down: state %s, physically %s", card, port,
                *kind ? kind : "InfiniBand", state, *physical ? physical : "unknown");
    }
}

static void
look_at_card(struct network *net, struct ar_findings *findings, const char *card)
{
    char path[PATH_MAX];
    const size_t length = strlen(net->names);
    snprintf(net->names + length, sizeof net->names - length, "%s ", card);
    for (int port = 1; port < 16; port++) {
        snprintf(path, sizeof path, "%s/sys/class/infiniband/%s/ports/%d", net->root, card, port);
        if (access(path, F_OK) == 0)
            look_at_port(net, findings, card, port);
    }
}

/* Of Ethernet, or what looks like it to IP.  Those of hardware count, and others that are up. */
static void
look_at_link(struct network *net, struct ar_findings *findings, const char *name)
{
    char path[PATH_MAX], type[16], state[32], speed[32];
    const size_t length = strlen(net->names);
    (void)findings;
    take_word(type, sizeof type, ar_sysfs_line(net->root, "/sys/class/net/%s/type", name));
    if (strcmp(type, "772") == 0 || strcmp(name, "lo") == 0) /* ARPHRD_LOOPBACK */
        return;
    snprintf(net->names + length, sizeof net->names - length, "%s ", name);
    take_word(state, sizeof state, ar_sysfs_line(net->root, "/sys/class/net/%s/operstate", name));
    take_word(speed, sizeof speed, ar_sysfs_line(net->root, "/sys/class/net/%s/speed", name));
    snprintf(path, sizeof path, "%s/sys/class/net/%s/device", net->root, name);
    const bool is_up = strcmp(state, "up") == 0;
    if (!is_up && access(path, F_OK))
        return;
    ar_text_add(&net->list, "%s%s is %s", net->links++ > 0 ? ", " : "", name,
                is_up ? "up" : "down");
    if (is_up && strtol(speed, NULL, 10) > 0)
        ar_text_add(&net->list, " (%s Mbit/s)", speed);
    net->up += is_up;
}

static void
tell_links(const struct network *net, struct ar_findings *findings)
{
    static const char advice[] = "ranks on several nodes need a network: in a container, give it "
                                 "the host's (docker: --network=host)";
    if (net->up > 0 || net->active > 0)
        ar_find(findings, AR_SEVERITY_OK, "network", NULL, "%s",
                net->links > 0 ? net->list.text : "no Ethernet");
    else
        ar_find(findings, net->nodes > 1 ? AR_SEVERITY_WARNING : AR_SEVERITY_NOTE, "network",
                advice, "only the loopback interface is up%s%s", net->links > 0 ? ": " : "",
                net->list.text);
}

/* --- what the environment says --- */

/* Variables that decide by which network messages go. */
enum variable_kind { KIND_TRANSPORT, KIND_DEVICE, KIND_OTHER };
static const struct {
    const char *name;
    enum variable_kind kind;
} variables[] = {
    {"FI_PROVIDER", KIND_TRANSPORT},
    {"FI_TCP_IFACE", KIND_DEVICE},
    {"FI_SOCKETS_IFACE", KIND_DEVICE},
    {"FI_VERBS_IFACE", KIND_DEVICE},
    {"UCX_TLS", KIND_TRANSPORT},
    {"UCX_NET_DEVICES", KIND_DEVICE},
    {"OMPI_MCA_pml", KIND_OTHER},
    {"OMPI_MCA_mtl", KIND_OTHER},
    {"OMPI_MCA_btl", KIND_TRANSPORT},
    {"OMPI_MCA_btl_tcp_if_include", KIND_DEVICE},
    {"OMPI_MCA_btl_tcp_if_exclude", KIND_OTHER},
    {"MPIR_CVAR_CH4_NETMOD", KIND_OTHER},
    {"MPICH_NETMOD", KIND_OTHER},
    {"MPIR_CVAR_OFI_USE_PROVIDER", KIND_TRANSPORT},
    {"MPICH_OFI_USE_PROVIDER", KIND_TRANSPORT},
    {"MPICH_OFI_NIC_POLICY", KIND_OTHER},
    {"I_MPI_FABRICS", KIND_OTHER},
    {"I_MPI_OFI_PROVIDER", KIND_TRANSPORT},
    {"HYDRA_IFACE", KIND_DEVICE},
};

enum { VARIABLES = sizeof variables / sizeof variables[0] };

static const char *const by_tcp[] = {"tcp", "sockets", "udp", NULL};
/* Of cards below /sys/class/infiniband, where those of Slingshot (cxi) are not. */
static const char *const by_rdma[] = {"verbs",    "psm2",     "psm3",    "opx",    "efa",  "ib",
                                      "rc",       "ud",       "dc",      "rc_x",   "ud_x", "dc_x",
                                      "rc_mlx5",  "ud_mlx5",  "dc_mlx5", "openib", "rc_v", "ud_v",
                                      "rc_verbs", "ud_verbs", "mlx",     NULL};

/* How many words of a list are among the names?  A list that begins with ^ tells what is not
 * taken: 0. */
static int
count_among(const char *list, const char *const *names)
{
    int n = 0;
    if (*list == '^')
        return 0;
    while (*list) {
        const size_t length = strcspn(list, ",;: ");
        n += ar_word_among((struct ar_word){list, length}, names) >= 0;
        list += length + (list[length] != '\0');
    }
    return n;
}

/* A setting against what is there. */
static void
judge_transport(const struct network *net, struct ar_findings *findings, const char *name,
                const char *value)
{
    const int tcp = count_among(value, by_tcp), rdma = count_among(value, by_rdma);
    if (tcp > 0 && rdma == 0 && net->active > 0 && !strstr(value, "all"))
        ar_find(findings, AR_SEVERITY_WARNING, "network",
                "unset it, and let the MPI library choose",
                "%s=%s sends messages by TCP, though a faster network is up", name, value);
    else if (rdma > 0 && tcp == 0 && net->active == 0 && net->ports == 0)
        ar_find(findings, AR_SEVERITY_WARNING, "network",
                "unset it, or start the job on nodes that have such a card",
                "%s=%s, but no card for it is in /sys/class/infiniband", name, value);
}

/* Devices that are named and are not there; networks by address, as 10.0.0.0/8, are left out. */
static void
judge_devices(const struct network *net, struct ar_findings *findings, const char *name,
              const char *value)
{
    char device[128];
    while (*value) {
        const size_t length = strcspn(value, ",; ");
        const size_t word = strcspn(value, ",; :");
        snprintf(device, sizeof device, " %.*s ", (int)word, value);
        if (word > 0 && !memchr(value, '/', word) && strcmp(device, " all ") != 0 &&
            strcmp(device, " lo ") != 0 && !strstr(net->names, device))
            ar_find(findings, AR_SEVERITY_WARNING, "network",
                    "name one that exists, or unset the variable",
                    "%s names %.*s, which this node does not have", name, (int)word, value);
        value += length + (value[length] != '\0');
    }
}

static void
examine_settings(const struct network *net, struct ar_findings *findings)
{
    char list[1024];
    struct ar_text text;
    ar_text_init(&text, list, sizeof list);
    for (int i = 0; i < VARIABLES; i++) {
        const char *const value = getenv(variables[i].name);
        if (!value || !*value)
            continue;
        ar_text_add(&text, "%s%s=", text.length ? ", " : "", variables[i].name);
        ar_text_escape(&text, ar_word_of(value));
        if (variables[i].kind == KIND_TRANSPORT)
            judge_transport(net, findings, variables[i].name, value);
        else if (variables[i].kind == KIND_DEVICE)
            judge_devices(net, findings, variables[i].name, value);
    }
    ar_find(findings, AR_SEVERITY_OK, "network", NULL,
            text.length ? "the environment tells MPI: %s"
                        : "the environment lets MPI choose the network%s",
            list);
}

/* --- both --- */

static void
examine_memlock(const struct network *net, struct ar_findings *findings)
{
    struct rlimit locked;
    if (net->active > 0 && getrlimit(RLIMIT_MEMLOCK, &locked) == 0 &&
        locked.rlim_cur < LEAST_LOCKED)
        ar_find(findings, AR_SEVERITY_WARNING, "limits",
                "set ulimit -l unlimited, also where the launcher starts its ranks "
                "(/etc/security/limits.conf, LimitMEMLOCK of its service)",
                "only %llu KiB of memory may be locked: RDMA needs more",
                (unsigned long long)locked.rlim_cur >> 10);
}

void
ar_doctor_examine_network(struct ar_findings *findings, const char *root, int nodes)
{
    char links[512];
    struct network net = {.root = root, .nodes = nodes, .names = " "};
    if (nodes == 1) {
        ar_find(findings, AR_SEVERITY_OK, "network", NULL, "not needed: all ranks are on one node");
        return;
    }
    ar_text_init(&net.list, links, sizeof links);
    walk(&net, findings, "/sys/class/infiniband", look_at_card);
    walk(&net, findings, "/sys/class/net", look_at_link);
    tell_links(&net, findings);
    examine_settings(&net, findings);
    examine_memlock(&net, findings);
}
