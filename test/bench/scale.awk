# A gnuplot program that draws winners (ranks, size, microseconds, times the bound, name) as a map.
# powers, others, sizes: columns of the two halves, and rows; title; output: the SVG.

function family(name, row) {
    row = name
    sub(/\(.*/, "", row)
    return row in family_of ? family_of[row] : "other"
}

# What stands in the cell: the row, what runs between nodes, 1 for one lane, + for groups inside nodes, an asterisk where it is cut.
function mark(name, row, text) {
    row = name
    sub(/\(.*/, "", row)
    text = row in mark_of ? mark_of[row] : substr(row, 1, 2)
    if (match(name, /inter=[a-z_]+/))
        text = text mark_of[substr(name, RSTART + 6, RLENGTH - 6)]
    if (name ~ /lanes=one/)
        text = text "1"
    if (name ~ /levels=/)
        text = text "+"
    if (name ~ /segment=/)
        text = text "*"
    return text
}

function row(key, names, marks, i, n, list) {
    n = split(names, list, " ")
    split(marks, letter, " ")
    for (i = 1; i <= n; i++) {
        family_of[list[i]] = key
        mark_of[list[i]] = letter[i]
    }
}

function box(x, y, color) {
    printf "set object rectangle from %g,%g to %g,%g fc rgb '%s' fs solid noborder\n",
        x - 0.47, y - 0.45, x + 0.47, y + 0.45, color
}

function text(x, y, what, style) {
    printf "set label '%s' at %g,%g %s\n", what, x, y, style
}

function column(p, x) {
    place[p] = x
    text(x + 0.3, -0.75, p, "right rotate by 40 font ',11' textcolor rgb grey")
}

BEGIN {
    # Colours that stay apart to eyes that confuse red and green (Okabe and Ito).
    row("k-nomial exchange", "knomial butterfly", "K B")
    row("halving and doubling", "rhd swing", "H Sw")
    row("circulant", "circulant reduce_scatter_allgather", "C P")
    row("ring", "ring segmented_ring bidirectional_ring hier_ring circle", "R R BR HR Ci")
    row("tree", "double_tree dual_root recursive reduce_bcast hier_reduce_bcast", "2T 2R Re T HT")
    row("two levels", "two_level", "L")
    row("grid", "torus2d blueconnect mesh2d", "To Bl Me")
    row("gather", "star allgather_fold gather_scatter hier_gather_scatter", "St A G HG")
    nfamilies = split("k-nomial exchange|halving and doubling|circulant|ring|tree|two levels|grid|gather|other", families, "|")
    split("#f0e442 #56b4e9 #009e73 #e69f00 #cc79a7 #0072b2 #d55e00 #999999 #ffffff", color, " ")
    for (i = 1; i <= nfamilies; i++)
        color_of[families[i]] = color[i]
    nsizes = split(sizes, size, " ")
    for (i = 1; i <= nsizes; i++)
        height[size[i]] = i - 1
    npowers = split(powers, list, " ")
    print "grey = '#808890'"
    for (i = 1; i <= npowers; i++)
        column(list[i], i - 1)
    nothers = split(others, list, " ")
    for (i = 1; i <= nothers; i++)
        column(list[i], npowers + i - 0.2)
}

($1 in place) && ($2 in height) {
    box(place[$1], height[$2], color_of[family($5)])
    text(place[$1], height[$2], mark($5),
        "center font ',11' textcolor rgb '" (family($5) == "two levels" ? "white" : "black") "'")
    used[family($5)] = 1
}

END {
    width = npowers + nothers + 0.5
    for (i = 1; i <= nsizes; i++)
        text(-0.75, i - 1, size[i], "right font ',11' textcolor rgb grey")
    text(-0.5, nsizes + 0.85, title, "left font ',14' textcolor rgb grey")
    text(-0.5, nsizes - 0.1, "powers of two", "left font ',11' textcolor rgb grey")
    text(npowers + 0.3, nsizes - 0.1, "not powers of two", "left font ',11' textcolor rgb grey")
    text(width - 0.5, nsizes - 0.1, "rows: bytes, columns: ranks", "right font ',11' textcolor rgb grey")
    for (i = 1; i <= nfamilies; i++)
        if (families[i] in used) {
            x = (shown % 4) * width / 4
            y = -2.9 - int(shown / 4)
            box(x, y, color_of[families[i]])
            text(x + 0.7, y, families[i], "left font ',12' textcolor rgb grey")
            shown++
        }
    printf "set terminal svg noenhanced size 960,480 dynamic font 'sans-serif,12'\n"
    printf "set output '%s'\n", output
    print "unset border; unset tics; unset key; set margins 0, 0, 0, 0"
    printf "set xrange [-2.6:%g]; set yrange [-4.6:%g]\n", width, nsizes + 1.6
    print "plot NaN notitle"
}
