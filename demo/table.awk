# Reads what `allreduce bench --csv` prints for one or more numbers of ranks; prints one row an
# algorithm, one column a number of ranks and a size.
# Fields: ranks,bytes,algorithm,median_us,min_us,max_us,times_native,result,...

# The head, and what the MPI library may say on stdout.
$1 !~ /^[0-9]+$/ || NF < 8 { next }

{
    column = $1 " " $2
    if (!(column in known)) {
        known[column] = 1
        columns[++ncolumns] = column
    }
    if (!($3 in seen)) {
        seen[$3] = 1
        rows[++nrows] = $3
    }
    time[$3, column] = $4
    wrong[$3, column] = $8 != "right"
    if (!(column in best) || $4 < best[column])
        best[column] = $4
}

function size_text(bytes) {
    if (bytes >= 1048576)
        return bytes / 1048576 " MiB"
    if (bytes >= 1024)
        return bytes / 1024 " KiB"
    return bytes " B"
}

# One group of columns a number of ranks, a blank between groups.
function gap(i,    here, before) {
    split(columns[i], here, " ")
    split(columns[i - 1], before, " ")
    return here[1] == before[1] ? "" : " "
}

function print_trimmed(line) {
    sub(/ +$/, "", line)
    print line
}

function print_head(    i, part, line) {
    line = sprintf("%-24s", "")
    for (i = 1; i <= ncolumns; i++) {
        split(columns[i], part, " ")
        line = line gap(i) sprintf("%8s ", gap(i) == "" ? "" : part[1] " ranks")
    }
    print_trimmed(line)
    line = sprintf("%-24s", "algorithm")
    for (i = 1; i <= ncolumns; i++) {
        split(columns[i], part, " ")
        line = line gap(i) sprintf("%8s ", size_text(part[2]))
    }
    print_trimmed(line)
}

function cell(row, column,    us) {
    if (!((row, column) in time))
        return sprintf("%8s ", "-")
    if (wrong[row, column])
        return sprintf("%8s ", "WRONG")
    us = time[row, column]
    return sprintf(us < 100 ? "%8.1f%s" : "%8.0f%s", us, us == best[column] ? "*" : " ")
}

END {
    print_head()
    for (r = 1; r <= nrows; r++) {
        line = sprintf("%-24s", rows[r])
        for (i = 1; i <= ncolumns; i++)
            line = line gap(i) cell(rows[r], columns[i])
        print_trimmed(line)
    }
}
