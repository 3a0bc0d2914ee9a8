# From lines of native or auto, ranks, bytes, calls and microseconds, sorted by ranks, bytes and microseconds: the medians.
function median(how, calls,    n) {
    n = runs[row, how, calls]
    return us[row, how, calls, int((n + 1) / 2)]
}
function cells(calls) {
    return sprintf("%s | %s | %.2f", digits(median("native", calls)), digits(median("auto", calls)),
        median("auto", calls) / median("native", calls))
}

BEGIN {
    FS = ","
    print "| ranks | bytes | native, 1 call | auto, 1 call | auto / native | native, 10 calls | auto, 10 calls | auto / native |"
    print "|---|---|---|---|---|---|---|---|"
}
$1 == "how" { next }
{ row = $2 " | " size($3) }
!(row in seen) {
    seen[row] = 1
    order[++n] = row
}
{ us[row, $1, $4, ++runs[row, $1, $4]] = $5 }
END {
    for (i = 1; i <= n; i++) {
        row = order[i]
        print "| " row " | " cells(1) " | " cells(10) " |"
    }
}
