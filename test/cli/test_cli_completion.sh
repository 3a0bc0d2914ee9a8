#!/usr/bin/env bash
# Completion offers every subcommand, every option that --help shows, and every algorithm; so
# in bash, and in fish where that is installed.
# shellcheck source=test/cli/common.sh
. "${srcdir:-.}/test/cli/common.sh"

completion=${srcdir:-.}/completion

# shellcheck source=completion/bash/allreduce
. "$completion/bash/allreduce"

# offered WORD...: what is offered for the last word of a command line, in one line.
offered() {
    COMP_WORDS=(allreduce "$@")
    COMP_CWORD=$#
    _allreduce
    echo "${COMPREPLY[*]-}"
}

# expect TEXT WORD...: exactly this is offered.
expect() {
    local wanted=$1 got
    shift
    got=$(offered "$@")
    [ "$got" = "$wanted" ] || fail "allreduce $*: offers '$got', not '$wanted'"
}

# long_options SUBCOMMAND: as --help shows them.
long_options() {
    allreduce "$1" --help | grep -o -E '^ .{5}--[a-z-]+(\[=|=)?' | sed -e 's/^ *\(-., \)*//' -e 's/\[=$//'
}

subcommands=$(allreduce --help | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p')
[ -n "$subcommands" ] || fail "no subcommands"
expect "$(printf '%s ' "$subcommands" | tr '\n' ' ')--help --version" ''
for name in $subcommands; do
    expect "$name" "$name"
    expect "$(long_options "$name" | tr '\n' ' ' | sed 's/ $//')" "$name" --
done
names=$(allreduce list --names)
[ "$(echo "$names" | wc -l)" -eq $(($(allreduce list --csv | wc -l) - 1)) ] || fail "list --names does not name all"
expect "$(echo "$names" | tr '\n' ' ' | sed 's/ $//')" explain ''
expect 'ring' explain rin
expect 'ring' run --algo rin
expect 'ring' run --algo = rin
expect 'native' bench -a nat
expect 'butterfly:0-8K;ring' run -a "'butterfly:0-8K;rin"
expect 'ring' explain --rules rin
expect '' explain -n rin
expect '' explain ring rin
expect '' run --algo ring /nosuch/--al
expect '--algo=' run --verbose --al
touch "$scratch/rules.txt"
expect "$scratch/rules.txt" run --rules "$scratch/ru"
expect "$scratch/rules.txt" explain --nodes "$scratch/ru"
expect "$scratch/rules.txt" run -v ./app --rules "$scratch/ru"
expect "$scratch/rules.txt" run --library = "$scratch/ru"

expect 'placement' run --determinism = pl
expect 'fat-tree' explain ring --machine fat
expect 'openmpi-4.0 openmpi' run --rules openm
case $(offered bench --op PR) in
PROD | '') ;; # or there is no helper that runs here
*) fail "bench --op PR: offers $(offered bench --op PR)" ;;
esac

# behind TEXT WORD...: what is offered behind a launcher.
behind() {
    local wanted=$1
    shift
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _allreduce_launched
    [ "${COMPREPLY[*]-}" = "$wanted" ] || fail "$*: offers '${COMPREPLY[*]-}', not '$wanted'"
}
behind 'report' mpiexec -n 4 allreduce rep
behind 'ring' mpiexec -n 4 allreduce run --algo rin
behind "$scratch/rules.txt" mpirun -n 2 /usr/bin/env "$scratch/ru"

# in_fish LINE: what fish offers, in one line.
in_fish() {
    HOME=$scratch fish --no-config -c "source '$completion/fish/allreduce.fish'; complete -C '$1'" | cut -f 1 | sort | paste -s -d ' '
}
expect_fish() {
    local got
    got=$(in_fish "$2")
    [ "$got" = "$1" ] || fail "fish: $2: offers '$got', not '$1'"
}
if command -v fish >/dev/null; then
    expect_fish 'explain' 'allreduce exp'
    expect_fish '--algo=' 'allreduce run --al'
    expect_fish '--verbose' 'allreduce run --verb'
    expect_fish '--algo=ring' 'allreduce run --algo=rin'
    expect_fish 'ring' 'allreduce run --algo rin'
    expect_fish 'ring' 'allreduce explain rin'
    expect_fish 'placement' 'allreduce run --determinism pl'
    expect_fish '--tune=crowded' 'allreduce run --tune=cr'
    expect_fish 'int int32_t int64_t' 'allreduce bench -T int'
    expect_fish 'fat-tree' 'allreduce explain ring --machine fat'
    expect_fish '--rules=openmpi' 'allreduce run --rules=openm'
    expect_fish 'report' 'mpiexec -n 4 allreduce rep'
    expect_fish '--algo=ring' 'srun -n 4 /usr/bin/allreduce run --algo=rin'
fi
if command -v zsh >/dev/null; then
    zsh -n "$completion/zsh/_allreduce" || fail "zsh cannot read _allreduce"
fi
exit $failed
