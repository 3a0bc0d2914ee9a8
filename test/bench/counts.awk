# From counts.csv: a table.
BEGIN { FS = "," }
NR == 1 {
    print "| doubles | different counts | native, us | auto, us | speed-up |"
    print "|---|---|---|---|---|"
}
NR > 1 {
    sub(" ", " to ", $1)
    printf "| %s | %s | %s | %s | %s |\n", $1, $2 == 0 ? "any" : $2, digits($3), digits($4), digits($3 / $4)
}
