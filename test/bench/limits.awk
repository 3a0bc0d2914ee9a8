# From what test/bench/limits printed: a sentence for the round trip, a table for the rest.
BEGIN { FS = "," }
NR == 1 { next }
$2 > 0 {
    printf "%d bytes: a cache line's round trip takes %.3f us, auto %.3f us, which is %.2f of it\n\n", $1, $2, $6, $6 / $2
    print "| bytes | memcpy, us | swap, us | streamed, us | auto, us | auto / memcpy | auto / the faster swap |"
    print "|---|---|---|---|---|---|---|"
}
$3 > 0 {
    faster = $4 < $5 ? $4 : $5
    printf "| %s | %s | %s | %s | %s | %.2f | %.2f |\n", size($1), digits($3), digits($4), digits($5), digits($6), $6 / $3, $6 / faster
}
