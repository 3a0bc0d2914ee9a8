# From lines of PLATFORM,RANKS,BYTES,MICROSECONDS,KIND,"NAME","WHAT RAN", sorted: a table for each
# platform, and how many times faster than others our best (auto's choice among them)
# and auto are.
BEGIN {
    folded = 65536 # as in common.sh
    FS = "\""
    nselectors = split("mpich ompi mvapich2 impi", selectors, " ")
    OFMT = CONVFMT = "%.17g"
}

{
    split($1, at, ",")
    who = at[1] "," at[2] "," at[5] $2
    if (at[4] == "wrong") {
        wrong[who] = at[3]
        next
    }
    # Long messages are not checked: what was wrong before is not believed.
    if (who in wrong && at[3] >= folded)
        next
    point = at[1] "," at[2] "," at[3]
    us = at[4] + 0
    kind = at[5]
    if (!(point in seen)) {
        seen[point] = 1
        points[++npoints] = point
    }
    if (kind == "selector")
        selector[point, $2] = us
    else if (!((kind, point) in best) || us < best[kind, point]) {
        best[kind, point] = us
        name[kind, point] = $2 == "auto" ? $4 : $2
    }
    if (kind == "ours" && $2 == "auto")
        auto[point] = us
}

function digits(x) {
    return x == "" ? "" : x < 10 ? sprintf("%.2f", x) : x < 100 ? sprintf("%.1f", x) : sprintf("%.0f", x)
}

function size(bytes) {
    return bytes >= 1048576 ? bytes / 1048576 " MiB" : bytes >= 1024 ? bytes / 1024 " KiB" : bytes " B"
}

# SMPI's best: its algorithms, and what the selectors took.
function best_of_smpi(point,    i, us, s) {
    us = best["smpi", point]
    for (i = 1; i <= nselectors; i++) {
        s = selector[point, selectors[i]]
        if (s != "" && (us == "" || s + 0 < us + 0))
            us = s
    }
    return us
}

function best_of_selectors(point,    i, us, s) {
    for (i = 1; i <= nselectors; i++) {
        s = selector[point, selectors[i]]
        if (s != "" && (us == "" || s + 0 < us + 0))
            us = s
    }
    return us
}

# Ratio of another's time to ours, into the mean of platform against it.
function compare(platform, against, theirs, ours) {
    if (theirs == "" || ours == "")
        return
    logs[platform, against] += log(theirs / ours)
    count[platform, against]++
    if (!((platform, against) in least) || theirs / ours < least[platform, against])
        least[platform, against] = theirs / ours
}

function head(platform,    i) {
    printf "\n%s, microseconds:\n\n", platform
    printf "| ranks | bytes |"
    for (i = 1; i <= nselectors; i++)
        printf " %s |", selectors[i]
    print " SMPI's best | auto | our best | which |"
    printf "|---|---|"
    for (i = 1; i <= nselectors; i++)
        printf "---|"
    print "---|---|---|---|"
}

function row(point,    part, platform, ours, i) {
    split(point, part, ",")
    platform = part[1]
    ours = best["ours", point]
    printf "| %s | %s |", part[2], size(part[3])
    for (i = 1; i <= nselectors; i++)
        printf " %s |", digits(selector[point, selectors[i]])
    printf " %s | %s | %s | `%s` |\n", digits(best_of_smpi(point)), digits(auto[point]), digits(ours),
        name["ours", point]
    for (i = 1; i <= nselectors; i++) {
        compare("our best on " platform, selectors[i], selector[point, selectors[i]], ours)
        compare("auto on " platform, selectors[i], selector[point, selectors[i]], auto[point])
    }
    compare("our best on " platform, "the best of the four", best_of_selectors(point), ours)
    compare("auto on " platform, "the best of the four", best_of_selectors(point), auto[point])
    compare("our best on " platform, "SMPI's best", best_of_smpi(point), ours)
    compare("auto on " platform, "SMPI's best", best_of_smpi(point), auto[point])
    compare("auto on " platform, "our best", ours, auto[point])
}

function summary(platform,    i) {
    printf "| %s |", platform
    for (i = 1; i <= nselectors; i++)
        cell(platform, selectors[i])
    cell(platform, "the best of the four")
    cell(platform, "SMPI's best")
    cell(platform, "our best")
    print ""
}

function cell(platform, against) {
    if (count[platform, against])
        printf " %.2f (%.2f) |", exp(logs[platform, against] / count[platform, against]),
            least[platform, against]
    else
        printf " |"
}

END {
    for (i = 1; i <= npoints; i++) {
        split(points[i], part, ",")
        if (part[1] != last) {
            last = part[1]
            platforms[++nplatforms] = last
            head(last)
        }
        row(points[i])
    }
    print "\nTimes faster, geometric mean (and least):\n"
    printf "| |"
    for (i = 1; i <= nselectors; i++)
        printf " %s |", selectors[i]
    print " the best of the four | SMPI's best | our best |"
    print "|---|---|---|---|---|---|---|---|"
    for (p = 1; p <= nplatforms; p++) {
        summary("our best on " platforms[p])
        summary("auto on " platforms[p])
    }
}
