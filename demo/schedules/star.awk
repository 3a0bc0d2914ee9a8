# Writes a schedule: a star of P ranks whose root is rank ROOT.
# usage: awk -v P=6 -v ROOT=2 -f star.awk
BEGIN {
    print "allreduce-schedule 1"
    print "name star-" P "-" ROOT
    print "ranks " P
    print "blocks 1"
    gather = scatter = ""
    for (r = 0; r < P; r++) {
        if (r == ROOT)
            continue
        print "rank " r ": send * to " ROOT " | recv * from " ROOT
        gather = gather (gather ? " | " : "") "recv_reduce * from " r
        scatter = scatter (scatter ? "; " : "") "send * to " r
    }
    print "rank " ROOT ": " gather
    print "rank " ROOT ": " scatter
}
