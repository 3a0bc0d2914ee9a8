# Bytes, algorithm and microseconds from the CSV of allreduce bench, with tabs between them.
NR > 1 {
    bytes = $0
    sub(/^[^,]*,/, "", bytes)
    rest = bytes
    sub(/,.*/, "", bytes)
    sub(/^[^,]*,/, "", rest)
    match(rest, /^("[^"]*"|[^",]*),/)
    name = substr(rest, 1, RLENGTH - 1)
    gsub(/"/, "", name)
    rest = substr(rest, RLENGTH + 1)
    sub(/,.*/, "", rest)
    print bytes "\t" name "\t" rest
}
