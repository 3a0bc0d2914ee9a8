# Says whether what a rank holds stays the same: reads the file of one rank that test/mpi/resources.c wrote, prints a line
# for each quantity, and exits with 1 if one grows.  The first two fifths of the bare samples are warm-up; the rest is
# cut into halves, whose medians are compared.  What malloc has given out may grow by `slack` KiB and 0.1 %. What the
# system counts in pages, which change with their first use, may grow by 2 MiB and 2 %, and mappings by 16; files,
# threads and context ids not at all.
function median(column, from, to,    n, i, k, at, sorted) {
    for (i = from; i <= to; i++) {
        at = value[column, i]
        for (k = n++; k > 0 && sorted[k - 1] > at; k--) sorted[k] = sorted[k - 1]
        sorted[k] = at
    }
    return sorted[int(n / 2)]
}

function allowed(name, before) {
    if (name == "mappings") return 16
    return name !~ /_kib$/ ? 0 : (name == "heap_kib" ? slack + before / 1000 : 2048 + before / 50)
}

BEGIN { FS = "," }
NR == 1 { for (i = 1; i <= NF; i++) name[i] = $i; columns = NF; next }
$2 == 1 { n++; for (i = 1; i <= NF; i++) value[i, n] = $i }
END {
    first = int(n * 2 / 5) + 1
    middle = first + int((n - first + 1) / 2)
    if (middle <= first || middle > n) {
        printf "only %d samples\n", n
        exit 1
    }
    for (i = 4; i <= columns; i++) {
        before = median(i, first, middle - 1)
        after = median(i, middle, n)
        grown = name[i] == "ids_left" ? before - after : after - before
        grows = grown > allowed(name[i], before)
        bad += grows
        printf "%-14s %9d, then %9d: %s\n", name[i], before, after, grows ? "GROWS" : "flat"
    }
    exit bad > 0
}
