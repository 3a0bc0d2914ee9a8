# From lines of bytes, algorithm and microseconds: native, the best algorithm, the best of two levels and the best
# of the flat ones, and auto, beside the bound of hosts links of rate bytes a second.
BEGIN { FS = "\t" }

!($1 in native) { order[++n] = $1 }
$2 == "native" { native[$1] = $3 }
$2 == "auto" { auto[$1] = $3 }
$2 ~ /^(native|auto|MPI_Reduce)/ { next }
{ kind = $2 ~ /^(two_level|hier_)/ ? "levels" : "flat" }
!(($1, kind) in best) || $3 < best[$1, kind] {
    best[$1, kind] = $3
    name[$1, kind] = $2
}

END {
    print "| bytes | native, us | best flat, us | algorithm | best two-level, us | algorithm | auto, us | auto / best | native / auto | auto / bound |"
    print "|---|---|---|---|---|---|---|---|---|---|"
    for (i = 1; i <= n; i++) {
        b = order[i]
        bound = 2 * (hosts - 1) / hosts * b / rate * 1e6
        least = best[b, "flat"] < best[b, "levels"] ? best[b, "flat"] : best[b, "levels"]
        printf "| %s | %s | %s | `%s` | %s | `%s` | %s | %.2f | %s | %s |\n", size(b), digits(native[b]), digits(best[b, "flat"]),
            name[b, "flat"], digits(best[b, "levels"]), name[b, "levels"], digits(auto[b]), auto[b] / least,
            digits(native[b] / auto[b]), bound < least / 10 ? "" : digits(auto[b] / bound)
    }
}
