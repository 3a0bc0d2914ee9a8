# Makes a table of Markdown of what allreduce bench --preset course --csv wrote.  A cell has the milliseconds for the three
# numbers of slices.  Labels may hold a comma, which is quoted then.
function split_csv(line, field,    n, quoted, i, c) {
    n = 1
    split("", field)
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (c == "\"")
            quoted = !quoted
        else if (c == "," && !quoted)
            n++
        else
            field[n] = field[n] c
    }
    return n
}
function ms(us) {
    us /= 1000
    return us < 9.995 ? sprintf("%.2f", us) : us < 99.95 ? sprintf("%.1f", us) : sprintf("%.0f", us)
}
function bytes(b) {
    b += 0
    return b >= 1048576 ? sprintf("%.3gM", b / 1048576) : b >= 1024 ? sprintf("%.3gK", b / 1024) : b
}
function elements(n) { return n % 1048576 ? n / 1024 "K" : n / 1048576 "M" }
function add(text, more) { return text == "" ? more : text " / " more }
function error(x) { return x > 0 ? sprintf("%.1e", x) : "0" }
NR == 1 { split_csv($0, head); for (i in head) column[head[i]] = i; next }
{
    split_csv($0, f)
    name = f[column["algorithm"]]
    if (match(name, / N=[0-9]+/)) {
        n = substr(name, RSTART + 3, RLENGTH - 3)
        if (!(n in seen)) { seen[n] = 1; slices = add(slices, n) }
        name = substr(name, 1, RSTART - 1) substr(name, RSTART + RLENGTH)
    }
    where = elements(f[column["count"]]) ", " f[column["place"]]
    if (!(name in has)) { has[name] = 1; names[++nnames] = name }
    if (!(where in is)) { is[where] = 1; places[++nplaces] = where }
    time[name, where] = add(time[name, where], ms(f[column["median_us"]]))
    if (f[column["error"]] + 0 > worst[name]) worst[name] = f[column["error"]] + 0
    if (f[column["from_native"]] + 0 > apart[name]) apart[name] = f[column["from_native"]] + 0
    if (where != last[name]) { extra[name] = ""; last[name] = where }
    if (f[column["extra_bytes"]] != "") extra[name] = add(extra[name], bytes(f[column["extra_bytes"]]))
    ranks = f[column["ranks"]]
}
END {
    printf "%d ranks, milliseconds per call for *N* = %s slices:\n\n| |", ranks, slices
    for (k = 1; k <= nplaces; k++) printf " %s |", places[k]
    printf " error | from native | extra, %s |\n|---|", places[nplaces]
    for (k = 1; k <= nplaces + 3; k++) printf "---|"
    printf "\n"
    for (i = 1; i <= nnames; i++) {
        printf "| %s |", names[i]
        for (k = 1; k <= nplaces; k++) printf " %s |", time[names[i], places[k]]
        printf " %s | %s | %s |\n", error(worst[names[i]]), error(apart[names[i]]), extra[names[i]] == "" ? "-" : extra[names[i]]
    }
}
