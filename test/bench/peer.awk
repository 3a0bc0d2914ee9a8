# The medians of each contestant's runs, which are sorted by name and size.
BEGIN {
    FS = ","
    names = split("native,shm(copy=slots):never,shm(copy=slots),shm(copy=in_place),auto", name, ",")
}
$2 + 0 > 0 && $5 + 0 > 0 { print "wrong results: " $0 > "/dev/stderr"; wrong = 1; exit }
$2 + 0 > 0 {
    n[$1, $2]++
    call[$1, $2, n[$1, $2]] = $3 + 0
    turn[$1, $2, n[$1, $2]] = $4 + 0
    if (!($2 in seen)) { seen[$2]; bytes[++sizes] = $2 + 0 }
}
# Of the n values that begin with the key: sorts them by insertion.
function median(value, key, n,    i, k, v) {
    for (i = 2; i <= n; i++) {
        v = value[key, i]
        for (k = i - 1; k > 0 && value[key, k] > v; k--)
            value[key, k + 1] = value[key, k]
        value[key, k + 1] = v
    }
    return value[key, int((n + 1) / 2)]
}
function part(who, b,    key) {
    key = who SUBSEP b
    return sprintf("%.2f / %.2f", median(call, key, n[key]) / call_of_peer, median(turn, key, n[key]) / turn_of_peer)
}
END {
    if (wrong || sizes == 0)
        exit 1
    print "| bytes | peer, us | native | slots, never streamed | slots | in place | auto |"
    print "|---|---|---|---|---|---|---|"
    for (i = 1; i <= sizes; i++) {
        key = "peer" SUBSEP bytes[i]
        call_of_peer = median(call, key, n[key])
        turn_of_peer = median(turn, key, n[key])
        printf "| %s | %s / %s |", size(bytes[i]), digits(call_of_peer), digits(turn_of_peer)
        for (k = 1; k <= names; k++)
            printf " %s |", part(name[k], bytes[i])
        print ""
    }
}
