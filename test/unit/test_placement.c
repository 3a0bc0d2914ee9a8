/* Placements: what shapes and host files say of which ranks share a node, and what is wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/nodes.h"
#include "model/placement.h"
#include "schedule/error.h"
#include "unit.h"

static char reason[512];

/* Reads a shape, or else the text of a host file. */
static int
read_placement(struct ar_placement *p, const char *text)
{
    struct ar_text why;
    ar_text_init(&why, reason, sizeof reason);
    return ar_placement_is_shape(text) ? ar_placement_parse_shape(p, text, &why)
                                       : ar_placement_parse_hosts(p, text, &why);
}

/* nodes: a digit for each rank. */
static void
expect(const char *text, const char *nodes)
{
    struct ar_placement p;
    struct ar_node_index index;
    char got[64] = "";
    if (read_placement(&p, text))
        fail_msg("%s: %s", text, reason);
    assert_int_equal(p.nranks, strlen(nodes));
    for (int r = 0; r < p.nranks; r++)
        got[r] = (char)('0' + p.node_of[r]);
    assert_string_equal(got, nodes);
    assert_int_equal(ar_node_index_init(&index, p.node_of, p.nranks), AR_OK);
    int most = 0;
    for (int i = 0; i < index.count; i++)
        if (index.first[i + 1] - index.first[i] > most)
            most = index.first[i + 1] - index.first[i];
    assert_int_equal(p.nnodes, index.count);
    assert_int_equal(p.most, most);
    ar_node_index_fini(&index);
    ar_placement_fini(&p);
}

static void
refuse(const char *text, const char *why)
{
    struct ar_placement p;
    assert_int_equal(read_placement(&p, text), AR_ERR_SYNTAX);
    if (!strstr(reason, why))
        fail_msg("%s: '%s', without '%s'", text, reason, why);
}

static void
shapes_are_filled_or_dealt(void **state)
{
    (void)state;
    expect("2x3", "000111");
    expect("2X3,block", "000111");
    expect("2x3,cyclic", "010101");
    expect("3x2, Cyclic", "012012");
    expect("1x4,cyclic", "0000");
    expect("4x1", "0123");
    refuse("4x", "'4x'; allowed: H nodes of R ranks each");
    refuse("0x4", "65536 ranks at most");
    refuse("2x3x4", "'2x3x4'; allowed: H nodes");
    refuse("65536x2", "65536 ranks at most");
    refuse("2x2,round", "'round'; allowed: block, cyclic");
    refuse("2x2,", "''; allowed: block, cyclic");
}

static void
host_files_say_the_host_of_each_rank(void **state)
{
    (void)state;
    expect("b\na\nb\nc\n", "0102");
    expect("# of a job\n\n  node1\t# first\r\nnode2:3\nnode1", "01110");
    expect("node1\nnode10\nnode1", "010"); /* one name is no part of another */
    expect("rank 2=a slot=1\nrank 0=b slot=0:0-1\nrank 1 = a\n", "011");
    expect("rank 1=+n0\nrank 0=+n1", "01");
}

/* Those of Open MPI, Hydra and Slurm. */
static void
host_files_of_launchers_are_read(void **state)
{
    (void)state;
    expect("a slots=2 max_slots=4\nb max-slots=1\na slots=1\n", "0010");
    expect("a:2 binding=user:0,1\nb binding=none ifname=eth0 user=me\n", "001");
    expect("node[01-03]\nnode02\n", "0121");
    expect("n[09-10,2].x:2\nn2.x\nn10.x\n", "00112221");
}

static void
what_is_wrong_in_a_host_file_has_its_line(void **state)
{
    (void)state;
    refuse("", "no host in it; allowed in each line: HOST, HOST:N");
    refuse("# nothing\n\n", "no host");
    refuse("a\nb what=2", "2: 'what=2'; allowed: only HOST");
    refuse("a slots=0", "1: 'slots=0'; allowed: a number of ranks from 1 on, once, as in slots=4");
    refuse("a:2 slots=2", "1: 'slots=2'; allowed: a number of ranks from 1 on, once");
    refuse("a[1-", "1: 'a[1-'; allowed: numbers and ranges in brackets, as in node[01-04,7]");
    refuse("a[]", "1: 'a[]'; allowed: numbers and ranges");
    refuse("a[2-1]", "1: 'a[2-1]'; allowed: numbers and ranges");
    refuse("a[1-2]/", "1: 'a1/'; allowed: HOST");
    refuse("a\na[0-999999999]", "2: more than 65536 ranks");
    refuse("a\n\nb:0", "3: '0'; allowed: a number of ranks from 1 on");
    refuse("a:65537", "a number of ranks");
    refuse("a:65536\nb", "2: more than 65536 ranks");
    refuse("a/b", "1: 'a/b'; allowed: HOST");
    refuse("rank x=a", "1: 'x'; allowed: a rank's number and '='");
    refuse("rank 0", "1: '0'; allowed: a rank's number and '='");
    refuse("rank 0=", "1: ''; allowed: a host's name");
    refuse("rank 0=a\nb", "2: 'b'; allowed: rank N=HOST in every line, as in line 1");
    refuse("a\nrank 1=b", "2: 'rank 1=b'; allowed: no line with a rank's number, as in line 1");
    refuse("rank 0=a\nrank 0=b", "2: rank 0 is also in line 1");
    refuse("rank 0=a\nrank 2=b", "2: rank 2, but no rank 1; allowed: the ranks from 0 on");
}

static void
blocks_are_told_from_other_placements(void **state)
{
    struct ar_placement p;
    (void)state;
    assert_int_equal(read_placement(&p, "3x4"), AR_OK);
    assert_true(ar_nodes_are_blocks(p.node_of, p.nranks));
    ar_placement_fini(&p);
    assert_int_equal(read_placement(&p, "a\na\nb\nc\nc\n"), AR_OK);
    assert_true(ar_nodes_are_blocks(p.node_of, p.nranks));
    ar_placement_fini(&p);
    assert_int_equal(read_placement(&p, "3x4,cyclic"), AR_OK);
    assert_false(ar_nodes_are_blocks(p.node_of, p.nranks));
    ar_placement_fini(&p);
}

/* Who plays whom, as a text of digits. */
static const char *
seated(const char *placement, const char *real)
{
    static char text[32];
    struct ar_placement p;
    int node_of[16], player[16];
    assert_int_equal(read_placement(&p, placement), AR_OK);
    assert_int_equal(p.nranks, strlen(real));
    for (int r = 0; r < p.nranks; r++)
        node_of[r] = real[r] - '0';
    const int error = ar_placement_seat(player, &p, node_of);
    for (int r = 0; r < p.nranks; r++)
        text[r] = (char)('0' + player[r]);
    text[p.nranks] = '\0';
    for (int r = 0; r < p.nranks && !error; r++)
        for (int s = 0; s < p.nranks; s++)
            assert_int_equal(p.node_of[r] == p.node_of[s],
                             node_of[player[r]] == node_of[player[s]]);
    ar_placement_fini(&p);
    return error == AR_ERR_PARAM ? "no" : error ? "error" : text;
}

static void
real_ranks_take_the_places_if_nodes_are_of_the_same_sizes(void **state)
{
    (void)state;
    assert_string_equal(seated("2x2", "0011"), "0123");
    assert_string_equal(seated("2x2,cyclic", "0011"), "0213");
    assert_string_equal(seated("2x2", "0101"), "0213");
    assert_string_equal(seated("a\nb\nb\n", "001"), "201"); /* rank 0's node is the larger one */
    assert_string_equal(seated("a:2\nb\nc:3\na\n", "0122211"), "1502346");
    assert_string_equal(seated("2x2", "0001"), "no");
    assert_string_equal(seated("4x1", "0011"), "no");
    assert_string_equal(seated("1x4", "0011"), "no");
}

static void
nodes_are_numbered_by_their_first_ranks(void **state)
{
    int node_of[] = {0, 1, 0, 3, 1, 3};
    const int expected[] = {0, 1, 0, 2, 1, 2};
    (void)state;
    ar_placement_number(node_of, 6);
    assert_memory_equal(node_of, expected, sizeof expected);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_are_filled_or_dealt),
        cmocka_unit_test(host_files_say_the_host_of_each_rank),
        cmocka_unit_test(host_files_of_launchers_are_read),
        cmocka_unit_test(what_is_wrong_in_a_host_file_has_its_line),
        cmocka_unit_test(blocks_are_told_from_other_placements),
        cmocka_unit_test(real_ranks_take_the_places_if_nodes_are_of_the_same_sizes),
        cmocka_unit_test(nodes_are_numbered_by_their_first_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
