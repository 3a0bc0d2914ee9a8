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
    expect("a slots=2\nb\na  slots=1 # again\n", "0010");
}

static void
what_is_wrong_in_a_host_file_has_its_line(void **state)
{
    (void)state;
    refuse("", "no host in it; allowed in each line: HOST, or HOST:N");
    refuse("# nothing\n\n", "no host");
    refuse("a\nb what=2", "2: 'what=2'; allowed: only HOST");
    refuse("a slots=0", "1: '0'; allowed: a number of ranks from 1 on, as in HOST:4");
    refuse("a:2 slots=2", "1: 'slots=2'; allowed: only HOST");
    refuse("a slots=2 max_slots=4", "1: 'max_slots=4'; allowed: only HOST");
    refuse("node[01-03]", "1: 'node[01-03]'; allowed: HOST");
    refuse("rank 0=a", "1: '0=a'; allowed: only HOST");
    refuse("a\n\nb:0", "3: '0'; allowed: a number of ranks from 1 on");
    refuse("a:65537", "a number of ranks");
    refuse("a:65536\nb", "2: more than 65536 ranks");
    refuse("a/b", "1: 'a/b'; allowed: HOST");
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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_are_filled_or_dealt),
        cmocka_unit_test(host_files_say_the_host_of_each_rank),
        cmocka_unit_test(what_is_wrong_in_a_host_file_has_its_line),
        cmocka_unit_test(blocks_are_told_from_other_placements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
