# Completion of allreduce(1) for fish.  What there is to complete, the program tells itself.

function __allreduce_subcommands
    allreduce --help 2>/dev/null | string replace -rf '^  ([a-z]+) +(.*)' '$1\t$2'
end

# The options of the subcommand that was typed, with "=" behind those that take a value.
function __allreduce_options
    set -l words (commandline -opc)
    ARGP_HELP_FMT= allreduce $words[2] --help 2>/dev/null |
        string replace -rf '^  .{4}(--[a-z-]+)(?:\[=\w+\])?(=?)\S*\s*(.*)' '$1$2\t$3'
end

function __allreduce_names
    allreduce list --names 2>/dev/null
end

# Clauses: names behind the last semicolon of what was typed.
function __allreduce_clauses
    set -l before (string match -r '^.*(?:;|=)' -- (commandline -ct | string trim -lc '\'"'))
    for name in (__allreduce_names) native auto
        echo "$before$name"
    end
end

# Does an option wait for clauses?
function __allreduce_wants_clauses
    set -l words (commandline -opc)
    string match -qr -- '^--algo=|^--rules=' (commandline -ct); and return
    contains -- $words[-1] -a --algo; and return
    test "$words[2]" = explain; and contains -- $words[-1] -r --rules
end

complete -c allreduce -n __fish_use_subcommand -f -a '(__allreduce_subcommands)'
complete -c allreduce -n 'not __fish_use_subcommand' -a '(__allreduce_options)'
complete -c allreduce -n '__fish_seen_subcommand_from explain' -f -a '(__allreduce_names)'
complete -c allreduce -n '__fish_seen_subcommand_from list bench tune model' -f
complete -c allreduce -n __allreduce_wants_clauses -f -a '(__allreduce_clauses)'
