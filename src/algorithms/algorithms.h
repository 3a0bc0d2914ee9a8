/* Every algorithm's emitter, one file each; contracts in registry.h. */
#ifndef AR_ALGORITHMS_H
#define AR_ALGORITHMS_H

#include "algorithms/registry.h"

ar_emit_fn ar_allgather_fold;
ar_emit_fn ar_bidirectional_ring;
ar_emit_fn ar_blueconnect;
ar_emit_fn ar_butterfly;
ar_emit_fn ar_circle;
ar_emit_fn ar_circulant;
ar_emit_fn ar_double_tree;
ar_emit_fn ar_dual_root;
ar_emit_fn ar_gather_scatter;
ar_emit_fn ar_hier_gather_scatter;
ar_emit_fn ar_hier_reduce_bcast;
ar_emit_fn ar_hier_ring;
ar_emit_fn ar_knary;
ar_emit_fn ar_knomial;
ar_emit_fn ar_mesh2d;
ar_emit_fn ar_recursive;
ar_emit_fn ar_reduce_bcast;
ar_emit_fn ar_reduce_scatter_allgather;
ar_emit_fn ar_rhd;
ar_emit_fn ar_ring;
ar_emit_fn ar_star;
ar_emit_fn ar_shm;
ar_emit_fn ar_swing;
ar_emit_fn ar_torus2d;
ar_emit_fn ar_two_level;

#endif
