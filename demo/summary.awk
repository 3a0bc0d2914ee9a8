# Reads what a program and the library under ALLREDUCE_VERBOSE=1 said; prints the summary's rows as
# "calls bytes ms ran", separated by tabs.  Fails if there is none, or if one is not as expected.

$1 != "liballreduce:" {
    next
}

$2 == "calls" {
    in_table = $3 == "bytes" && $4 == "ms" && $5 == "ran"
    next
}

in_table && $2 ~ /^[0-9]+$/ && $3 ~ /^[0-9.]+[KMGTP]?$/ && $4 ~ /^[0-9.]+$/ && NF >= 6 {
    print $2 "\t" $3 "\t" $4 "\t" $5
    rows++
    next
}

in_table && $2 ~ /^[0-9]+$/ {
    exit rows = 0
}

END {
    exit rows == 0
}
