# From lines of bytes, algorithm, measured and predicted microseconds: predicted / measured, a column for each size.
BEGIN { FS = "\t" }

!($1 in seen) { seen[$1] = 1; sizes[++nsizes] = $1 }
!($2 in known) { known[$2] = 1; rows[++nrows] = $2 }
{ measured[$2, $1] = $3; predicted[$2, $1] = $4 }

END {
    printf "| algorithm: predicted us (predicted / measured) |"
    for (i = 1; i <= nsizes; i++)
        printf " %s |", size(sizes[i])
    printf "\n|---|"
    for (i = 1; i <= nsizes; i++)
        printf "---|"
    for (k = 1; k <= nrows; k++) {
        printf "\n| `%s` |", rows[k]
        for (i = 1; i <= nsizes; i++) {
            p = predicted[rows[k], sizes[i]]
            printf " %s (%.2f) |", digits(p), p / measured[rows[k], sizes[i]]
        }
    }
    printf "\n"
}
