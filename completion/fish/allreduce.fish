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

# What a message of the program says is allowed or installed.
function __allreduce_allowed
    allreduce $argv 2>&1 </dev/null | string replace -rf '.*(?:allowed|one of the installed [a-z]*): ' '' | string replace -a , '' |
        string split -n ' '
end

# The long name of the option that waits for its value, a colon, and the kind of value; nothing where none waits.
function __allreduce_option
    set -l words (commandline -opc)
    set -l here (string match -r -- '^--[a-z-]+(?==)' (commandline -ct))
    set -l pattern
    if test -n "$here"
        set pattern "($here)\\[?"
    else if string match -qr -- '^--[a-z-]+$' "$words[-1]"
        set pattern "($words[-1])"
    else if string match -qr -- '^-[a-zA-Z]$' "$words[-1]"
        set pattern "$words[-1], (--[a-z-]+)"
    else
        return
    end
    ARGP_HELP_FMT= allreduce $words[2] --help 2>/dev/null | string replace -rf "^ +(?:-., )?$pattern=([^\s\\]]+).*" '$1:$2'
end

# The values of that option; nothing where these are files, or what nobody can know.
function __allreduce_values
    set -l option (__allreduce_option)
    set -l before (string match -r -- '^--[a-z-]+=' (commandline -ct)); or set before ''
    switch "$option"
        case '--algo:*' '--rules:TEXT'
            __allreduce_clauses
        case '--op:*'
            printf '%s\n' $before(__allreduce_allowed bench --op '?')
        case '--type:*'
            printf '%s\n' $before{int,long,float,double,int32_t,int64_t,c_double_complex,double_int}
        case '--machine:*'
            printf '%s\n' $before(__allreduce_allowed explain ring --machine '?')
        case '--rules:FILE'
            printf '%s\n' $before(__allreduce_allowed run --rules '?' true)
        case '*|*'
            printf '%s\n' $before(string replace -r -- '.*:' '' $option | string split '|')
    end
end

# Does an option wait for a value that is no file?
function __allreduce_wants_value
    string match -qr -- '^--(algo|op|type):|:TEXT$|\|' (__allreduce_option)
end

# What was typed behind a launcher, from allreduce on; fails where it was not.
function __allreduce_launched
    string match -r -- '(?<=\s)(?:\S*/)?allreduce\s.*' (commandline -cp)
end

complete -c allreduce -n __fish_use_subcommand -f -a '(__allreduce_subcommands)'
complete -c allreduce -n 'not __fish_use_subcommand' -a '(__allreduce_options)'
complete -c allreduce -n '__fish_seen_subcommand_from explain' -f -a '(__allreduce_names)'
complete -c allreduce -n '__fish_seen_subcommand_from list bench tune model' -f
complete -c allreduce -n 'not __fish_use_subcommand' -a '(__allreduce_values)'
complete -c allreduce -n __allreduce_wants_value -f
for launcher in mpiexec mpirun srun
    complete -c $launcher -n __allreduce_launched -f -a '(complete -C (__allreduce_launched))'
end
