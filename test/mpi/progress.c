/* Legal programs whose other communication must go on while ranks are inside
 * MPI_Allreduce, and whose messages must reach them and nobody else.
 *
 * usage: progress [CHOICE...]   on a communicator for each choice; without any on the world
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "traffic.h"

#define LONG_MESSAGE (1 << 20) /* ints: surely no eager message */
#define RENDEZVOUS   (1 << 15) /* ints: no eager message by default */
#define TAG          TRAFFIC_KINDS
#define HIGHEST_TAG  32767

static int *message, *landing;

static void
fill(int value)
{
    for (int i = 0; i < LONG_MESSAGE; i++)
        message[i] = value + i;
    memset(landing, 0, LONG_MESSAGE * sizeof *landing);
}

static void
check_landing(int value, const char *what)
{
    for (int i = 0; i < LONG_MESSAGE; i++)
        if (landing[i] != value + i) {
            check_fail("%s: the message is wrong at %d", what, i);
            return;
        }
}

/* Rank 0's long send is under way; the receiver posts its receive only after
 * the allreduce. */
static void
send_before_receive_after(const struct check_comm *c)
{
    MPI_Request request;
    fill(7);
    if (c->rank == 0)
        MPI_Isend(message, LONG_MESSAGE, MPI_INT, 1, 5, c->comm, &request);
    check_ping(c->comm, "with a send under way");
    if (c->rank == 1) {
        MPI_Recv(landing, LONG_MESSAGE, MPI_INT, 0, 5, c->comm, MPI_STATUS_IGNORE);
        check_landing(7, "send before, receive after");
    }
    if (c->rank == 0)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Rank 1 waits in MPI_Ssend for rank 0's progress, and only then enters the
 * allreduce in which rank 0 already is. */
static void
receive_before_peer_enters(const struct check_comm *c)
{
    MPI_Request request;
    fill(11);
    if (c->rank == 0) {
        MPI_Irecv(landing, LONG_MESSAGE, MPI_INT, 1, 6, c->comm, &request);
    } else if (c->rank == 1) {
        usleep(20000);
        MPI_Ssend(message, LONG_MESSAGE, MPI_INT, 0, 6, c->comm);
    }
    check_ping(c->comm, "with a receive under way");
    if (c->rank == 0) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check_landing(11, "receive before the peer enters");
    }
}

/* Messages that lie there unreceived, which a probe finds: the left neighbour's, and one to
 * oneself. */
struct lying {
    MPI_Request sent[2];
    int token;
};

static void
lay(struct lying *lying, const struct check_comm *c)
{
    const int left = (c->rank + c->nranks - 1) % c->nranks, right = (c->rank + 1) % c->nranks;
    lying->token = c->rank;
    MPI_Isend(&lying->token, 1, MPI_INT, right, TAG, c->comm, &lying->sent[0]);
    MPI_Isend(&lying->token, 1, MPI_INT, c->rank, HIGHEST_TAG, c->comm, &lying->sent[1]);
    MPI_Probe(left, TAG, c->comm, MPI_STATUS_IGNORE);
    MPI_Probe(c->rank, HIGHEST_TAG, c->comm, MPI_STATUS_IGNORE);
}

static void
pick_up(struct lying *lying, const struct check_comm *c)
{
    const int left = (c->rank + c->nranks - 1) % c->nranks;
    int tokens[2] = {-1, -1};
    MPI_Recv(&tokens[0], 1, MPI_INT, left, TAG, c->comm, MPI_STATUS_IGNORE);
    MPI_Recv(&tokens[1], 1, MPI_INT, c->rank, HIGHEST_TAG, c->comm, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2; i++)
        MPI_Wait(&lying->sent[i], MPI_STATUS_IGNORE);
    check_true(tokens[0] == left && tokens[1] == c->rank);
}

/* Every second rank completes what is under way before it enters the allreduce, in which the others
 * are; without and with messages that lie there. */
static void
everything_goes_on(const struct check_comm *c)
{
    for (int i = 0; i < 2 * TRAFFIC_KINDS; i++) {
        const enum traffic_kind kind = (enum traffic_kind)(i / 2);
        struct traffic pending;
        struct lying lying;
        char cell[128];
        snprintf(cell, sizeof cell, "%s: %s under way%s", c->name, traffic_name(kind),
                 i % 2 ? ", and messages that lie there" : "");
        check_watch(cell);
        if (i % 2)
            lay(&lying, c);
        traffic_begin(&pending, kind, c, RENDEZVOUS, (unsigned)i);
        if (c->rank % 2 == 0) {
            usleep(1000);
            traffic_meet(&pending);
        }
        check_ping(c->comm, cell);
        traffic_end(&pending);
        if (i % 2)
            pick_up(&lying, c);
    }
    check_watch(NULL);
}

/* A receive from any source with any tag takes nothing of the allreduce. */
static void
wildcards_stay_apart(const struct check_comm *c)
{
    const int left = (c->rank + c->nranks - 1) % c->nranks, right = (c->rank + 1) % c->nranks;
    MPI_Request request;
    MPI_Status status;
    int token = -1, mine = 100 + c->rank, flag;
    MPI_Irecv(&token, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, c->comm, &request);
    check_ping(c->comm, "with a wildcard receive under way");
    check_ping(c->comm, "with a wildcard receive under way, again");
    MPI_Send(&mine, 1, MPI_INT, right, 0, c->comm);
    MPI_Wait(&request, &status);
    check_true(token == 100 + left && status.MPI_SOURCE == left && status.MPI_TAG == 0);
    check_ping(c->comm, "after a wildcard receive");
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, c->comm, &flag, MPI_STATUS_IGNORE);
    check_true(!flag);
    MPI_Barrier(c->comm); /* messages sent later are none of this test's */
}

/* Messages that wait unreceived, with the tags and sizes an algorithm may use. */
static void
unexpected_messages_stay(const struct check_comm *c)
{
    enum { TAGS = 8 };
    const int left = (c->rank + c->nranks - 1) % c->nranks, right = (c->rank + 1) % c->nranks;
    for (int tag = 0; tag < TAGS; tag++) {
        int token = -1000 - tag;
        MPI_Send(&token, 1, MPI_INT, right, tag, c->comm);
    }
    for (int i = 0; i < 5; i++)
        check_ping(c->comm, "with unreceived messages");
    for (int tag = TAGS - 1; tag >= 0; tag--) {
        int token = 0;
        MPI_Recv(&token, 1, MPI_INT, left, tag, c->comm, MPI_STATUS_IGNORE);
        check_true(token == -1000 - tag);
    }
}

static void
ranks_come_late(const struct check_comm *c)
{
    for (int late = 0; late < c->nranks; late++) {
        if (c->rank == late)
            usleep(5000);
        check_ping(c->comm, "with a late rank");
    }
}

static void
check_comm(MPI_Comm comm, const char *name)
{
    const struct check_comm c = check_describe(comm, name);
    for (int turn = 0; turn < 2; turn++) { /* the first with no state of ours yet */
        send_before_receive_after(&c);
        receive_before_peer_enters(&c);
        everything_goes_on(&c);
        wildcards_stay_apart(&c);
        unexpected_messages_stay(&c);
        ranks_come_late(&c);
    }
}

static void
check_choice(const char *choice)
{
    MPI_Comm comm;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "allreduce_algo", choice);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    check_comm(comm, choice);
    MPI_Comm_free(&comm);
}

int
main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    message = malloc(LONG_MESSAGE * sizeof *message);
    landing = malloc(LONG_MESSAGE * sizeof *landing);
    check_true(message && landing);
    traffic_open();
    if (argc == 1)
        check_comm(MPI_COMM_WORLD, "world");
    for (int i = 1; i < argc; i++)
        check_choice(argv[i]);
    traffic_close();
    free(message);
    free(landing);
    return check_end();
}
