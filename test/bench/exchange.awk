# From lines of bytes and times: passed on, and exchanged with receives and with sends posted first.
BEGIN {
    FS = "\t"
    print "| bytes | to the neighbour | exchanged, receives first | exchanged, sends first |"
    print "|---|---|---|---|"
}
{ printf "| %s | %s | %s | %s |\n", size($1), $2, $3, $4 }
