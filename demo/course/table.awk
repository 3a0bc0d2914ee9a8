# Makes a table of Markdown of what demo/course/course has measured, or with page=1 a page to hand out.  A cell has the
# milliseconds for the three numbers of slices.  Labels may hold a comma, which is quoted then.
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
function elements(n) { return n >= 1048576 && n % 1048576 == 0 ? n / 1048576 "M" : n >= 1024 && n % 1024 == 0 ? n / 1024 "K" : n }
function add(text, more) { return text == "" ? more : text " / " more }
function error(x) { return x > 0 ? sprintf("%.1e", x) : "0" }
# The number of slices that a choice asks for; "": it is none of ours.
function slices_of(choice, ranks) {
    if (!match(choice, /segment=n\/[0-9]+/))
        return ""
    return substr(choice, RSTART + 10, RLENGTH - 10) * (choice ~ /^ring/ ? ranks : 1)
}
function name_of(choice) {
    if (!(choice ~ /segment=/))
        return choice
    return (choice ~ /=whole/ ? "butterfly, whole" : choice ~ /=halves/ ? "butterfly, halves" : substr(choice, 1, index(choice, "(") - 1)) \
        (choice ~ /window=auto/ ? ", pipelined" : "")
}
# The card's line for the time.
function formula(choice,    command, line, found) {
    command = "allreduce explain '" choice "' -n " ranks " -s " 8 * ranks " 2>/dev/null"
    while ((command | getline line) > 0)
        if (sub(/^  time  +/, "", line) && found == "")
            found = line
    close(command)
    return found
}
function row(text,    cell, n, i) {
    if (!page) {
        print "| " text " |"
        return
    }
    n = split(text, cell, / \| /)
    printf "<tr>"
    for (i = 1; i <= n; i++) printf i == 1 ? "<th>%s</th>" : "<td>%s</td>", cell[i]
    print "</tr>"
}
function lesson(choice, text) {
    printf "<dt>%s <i>%s</i></dt><dd>%s</dd>\n", choice, formula(choice), text
}
NR == 1 { split_csv($0, head); for (i in head) column[head[i]] = i; next }
{
    split_csv($0, f)
    ranks = f[column["ranks"]]
    name = name_of(f[column["algorithm"]])
    n = slices_of(f[column["algorithm"]], ranks)
    if (n != "" && !(n in seen)) { seen[n] = 1; slices = add(slices, n) }
    where = elements(f[column["count"]]) ", " f[column["place"]]
    if (!(name in has)) { has[name] = 1; names[++nnames] = name }
    if (!(where in is)) { is[where] = 1; places[++nplaces] = where }
    us = f[column["median_us"]] + 0
    time[name, where] = add(time[name, where], (f[column["result"]] == "wrong" ? "!" : "") ms(us))
    if (name == "native") native[where] = us
    else if (n != "" && (!(where in best) || us < best[where])) { best[where] = us; winner[where] = name " in " n " slices" }
    if (f[column["result"]] == "wrong") wrong = wrong "<p class=bad>" f[column["algorithm"]] ", " where ": a wrong result</p>\n"
    if (f[column["error"]] + 0 > worst[name]) worst[name] = f[column["error"]] + 0
    if (f[column["from_native"]] + 0 > apart[name]) apart[name] = f[column["from_native"]] + 0
    if (where != last[name]) { extra[name] = ""; last[name] = where }
    if (f[column["extra_bytes"]] != "") extra[name] = add(extra[name], bytes(f[column["extra_bytes"]]))
    type = f[column["type"]]; op = f[column["op"]]
}
END {
    if (nplaces == 0) {
        print page ? "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>Allreduce in a course</title>\n<p>No table was measured.</p>" : "No table was measured."
        exit
    }
    if (page) {
        print "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">"
        print "<title>Allreduce in a course</title>\n<style>\n:root { color-scheme: light dark }\nbody { font: 16px/1.4 sans-serif; margin: 1em }"
        print "div { overflow-x: auto }\ntable { border-collapse: collapse; font-size: 80% }\nth, td { border: 1px solid gray; padding: 2px 6px; text-align: left }\n.bad { color: red }\n</style>\n</head>\n<body>"
        printf "<h1>Allreduce in a course: %s of %s on %d ranks</h1>\n%s", op, type, ranks, wrong
        for (k = 1; k <= nplaces; k++)
            printf "<p>%s: the fastest is %s, with %s ms per call, where the MPI library takes %s.</p>\n", places[k], winner[places[k]], ms(best[places[k]]), ms(native[places[k]])
        printf "<div><table><caption>Milliseconds per call for N = %s slices</caption>\n", slices
    } else {
        printf "%d ranks, milliseconds per call for *N* = %s slices:\n\n", ranks, slices
    }
    text = ""
    for (k = 1; k <= nplaces; k++) text = text " | " places[k]
    row((page ? "&nbsp;" text : substr(text, 2)) " | error | from native | extra, " places[nplaces])
    if (!page) {
        printf "|---|"
        for (k = 1; k <= nplaces + 3; k++) printf "---|"
        printf "\n"
    }
    for (i = 1; i <= nnames; i++) {
        text = names[i]
        for (k = 1; k <= nplaces; k++) text = text " | " time[names[i], places[k]]
        row(text " | " error(worst[names[i]]) " | " error(apart[names[i]]) " | " (extra[names[i]] == "" ? "-" : extra[names[i]]))
    }
    if (!page) exit
    print "</table></div>\n<p>Error: the largest difference from a sum in long double, relative to the largest sum. From native: the same difference from"
    print "the MPI library's result. Extra: scratch bytes of the rank that needs most.</p>\n<dl>"
    lesson("star", "It takes two rounds, however many ranks there are. But every byte passes through the root, and all ranks wait for it.")
    lesson("circle", "No rank sends more than two vectors. But whole vectors are passed from rank to rank, so it gains most when slices are pipelined.")
    lesson("recursive", "A tree takes few rounds up and as many down. But half of the ranks have nothing to do after the first round.")
    lesson("butterfly(exchange=whole)", "No rank is idle, and it takes half the rounds of recursive. But all ranks send whole vectors in each round.")
    lesson("butterfly(exchange=halves)", "Partners share the arithmetic of an exchange: each does half of it, in twice the rounds.")
    lesson("ring", "No algorithm sends less from its busiest rank. But it takes many rounds, which is costly for short messages.")
    print "</dl>\n</body>\n</html>"
}
