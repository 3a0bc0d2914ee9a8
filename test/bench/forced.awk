# From lines of bytes, algorithm, native's and auto's microseconds: for each size the algorithm that
# comes nearest to auto.
BEGIN { FS = "," }

NR == 1 { next }
!($1 in auto) {
    order[++n] = $1
    auto[$1] = $4
    ratio[$1] = $3 / $4
    name[$1] = $2
}
$4 < auto[$1] { auto[$1] = $4 }
$2 == "default" { usual[$1] = $3 / $4 }
$3 / $4 < ratio[$1] {
    ratio[$1] = $3 / $4
    name[$1] = $2
}

END {
    print "| bytes | auto, us | over default | over best | the library's best |"
    print "|---|---|---|---|---|"
    for (i = 1; i <= n; i++) {
        b = order[i]
        printf "| %s | %s | %s | %s | `%s` |\n", size(b), digits(auto[b]), digits(usual[b]), digits(ratio[b]), name[b]
        if (!least || ratio[b] < least) {
            least = ratio[b]
            where = size(b)
        }
    }
    printf "\nauto: at least %.2f times faster than the library's best (%s bytes)\n", least, where
}
