# From what test/bench/limits printed: a sentence for the round trip, a table for the rest.
BEGIN { FS = "," }
NR == 1 { next }
$2 > 0 {
    printf "%d bytes: a cache line's round trip takes %.3f us, auto %.3f us, which is %.2f of it\n\n", $1, $2, $7, $7 / $2
    print "| bytes | memcpy, us | swap, us | streamed, us | exchanged, us | auto, us | auto / memcpy | auto / the fastest swap |"
    print "|---|---|---|---|---|---|---|---|"
}
$3 > 0 {
    fastest = $4 < $5 ? $4 : $5
    fastest = $6 < fastest ? $6 : fastest
    printf "| %s | %s | %s | %s | %s | %s | %.2f | %.2f |\n", size($1), digits($3), digits($4), digits($5), digits($6), digits($7), $7 / $3, $7 / fastest
}
