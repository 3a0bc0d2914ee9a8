# From lines of bytes, algorithm and microseconds: a table of native, auto, and the best of the others,
# which go by messages.
BEGIN { FS = "\t" }

!($1 in native) { order[++n] = $1 }
$2 == "native" { native[$1] = $3 }
$2 == "auto" { auto[$1] = $3 }
$2 != "native" && $2 != "auto" && $2 != "MPI_Reduce+MPI_Bcast" {
    if (!($1 in best) || $3 < best[$1]) {
        best[$1] = $3
        name[$1] = $2
    }
}

END {
    print "| bytes | native, us | auto, us | speed-up | messages, us | speed-up | fastest with messages |"
    print "|---|---|---|---|---|---|---|"
    for (i = 1; i <= n; i++) {
        b = order[i]
        printf "| %s | %s | %s | %s | %s | %s | `%s` |\n", size(b), digits(native[b]), digits(auto[b]),
            digits(native[b] / auto[b]), digits(best[b]), digits(native[b] / best[b]), name[b]
        if (!least || native[b] / auto[b] < least) {
            least = native[b] / auto[b]
            where = size(b)
        }
    }
    printf "\nauto: at least %s times faster than native (%s bytes)\n", digits(least), where
}
