#!/bin/sh
# ALLREDUCE_VERIFY: every algorithm agrees with the native allreduce on every kind of op and type; a
# message that is spoiled on its way is found, told once with what it takes to see it again, and
# leads to what was asked for.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

limit=60
fault=$PWD/test/mpi/.libs/fault_mpi.so

# expect_line WHAT PATTERN N: so many lines of the output match.
expect_line() {
    [ "$(grep -c -e "$2" "$scratch/out")" -eq "$3" ] || {
        fail "$1: not $3 lines with '$2'"
        cat "$scratch/out"
    }
}

# Of kinds, 2 calls each: sums of ints, 4 ops on float and double, complex sums; once maxloc,
# long double, and a user's op.  The 2 complex products have the native bits or not.
right='ALLREDUCE_VERIFY: 2[2-4] calls of rank 0 agree with the native allreduce, [0-2] only between the ranks'
kinds_agree() {
    title="kinds by $1 on $2 ranks, transport $3"
    expect_ok "$title" preload "$2" ALLREDUCE_VERIFY=1 ALLREDUCE_TRANSPORT="$3" \
        ALLREDUCE_ALGO="$1" "$programs/verify" kinds
    expect_line "$title" "$right, 0 are wrong, 0 could not be compared\$" 1
    expect_line "$title" ALLREDUCE_VERIFY 1
}
kinds_agree butterfly 3 mpi
kinds_agree dual_root 4 auto
kinds_agree 'circle(segment=1K)' 2 auto
kinds_agree shm 4 auto
kinds_agree shm 1 auto

# What may overflow on its way in one order and not in another is nobody's fault.
expect_ok 'sums that may overflow' preload 3 ALLREDUCE_VERIFY=1 ALLREDUCE_ALGO=ring "$programs/verify" huge
expect_line 'sums that may overflow' 'VERIFY: 3 calls of rank 0 agree .* 0 are wrong' 1

# An op of the program's own may round: that is told, and ends nothing.
differs='VERIFY: with a user-defined op the result differs from that of the native allreduce'
counted='4 with user-defined ops differ from the native allreduce (possibly by rounding)'
for setting in 1 1,native; do
    title="a user's op that rounds, $setting"
    expect_ok "$title" preload 3 ALLREDUCE_VERIFY=$setting ALLREDUCE_USER_OPS=cut ALLREDUCE_ALGO=ring \
        "$programs/verify" users rounded 4
    expect_line "$title" "$differs: element [0-9]* of 250 is [0-9.]* on rank [0-2] of 3, where native gives [0-9.]*; this may be rounding" 1
    expect_line "$title" "VERIFY: 0 calls of rank 0 agree .* 0 are wrong, .*, $counted" 1
done
expect_ok 'one rank' preload 1 ALLREDUCE_VERIFY=1 ALLREDUCE_ALGO=ring "$programs/verify" users rounded 4
expect_line 'one rank' "VERIFY: 4 calls of rank 0 agree with the native allreduce, 0 .* compared\$" 1

# The first of each N calls on a communicator.
expect_ok 'one of 4' preload 2 ALLREDUCE_VERIFY=1/4 ALLREDUCE_ALGO=ring "$programs/verify" ints 9
expect_line 'one of 4' 'VERIFY: 3 calls of rank 0 agree' 1
# Calls that go native by a clause are of these N, and not compared: every second one here.
expect_ok 'native ones count' preload 2 ALLREDUCE_VERIFY=1/2 ALLREDUCE_ALGO='native:inplace=yes;ring' \
    "$programs/verify" ints 9
expect_line 'native ones count' 'VERIFY: 5 calls of rank 0 agree' 1
expect_ok 'native is not compared with itself' \
    preload 2 ALLREDUCE_VERIFY=1 ALLREDUCE_ALGO=native "$programs/verify" ints 2
expect_line 'native is not compared with itself' 'VERIFY: 0 calls of rank 0 agree' 1

# spoil SETTING RANKS AT ALGORITHM [CALLS...]: the AT-th message of rank 1 is spoiled; 6 sums
# without CALLS.
spoil() {
    title="$*: message $3 of rank 1 spoiled"
    setting=$1
    ranks=$2
    at=$3
    algorithm=$4
    shift 4
    [ $# -gt 0 ] || set -- ints 6
    launch "$ranks" LD_PRELOAD="$fault:$library" FAULT_RANK=1 FAULT_AT="$at" ALLREDUCE_VERBOSE=1 \
        ALLREDUCE_VERIFY="$setting" ALLREDUCE_TRANSPORT=mpi ALLREDUCE_ALGO="$algorithm" \
        "$programs/verify" "$@" >"$scratch/out" 2>&1
    status=$?
}
# The second call: each of 3 ranks sends 4 messages in a ring.
spoil 1 3 5 ring
case $status in
0 | 124 | 137) fail "$title: exit status $status" ;;
esac
expect_line "$title" 'VERIFY: wrong result: element [0-9]* of 1000 is [-0-9]* on rank' 1
expect_line "$title" "mpiexec -n 3 allreduce bench --algo 'ring' --sizes 4000 --type MPI_INT --op MPI_SUM --place in" 1

spoil 1,warn 3 5 ring
[ $status -ne 0 ] || fail "$title: the program did not see the wrong result"
expect_line "$title" 'VERIFY: wrong result: ' 1
expect_line "$title" 'VERIFY: 5 calls of rank 0 agree .* 1 are wrong' 1

spoil 1,native 3 5 ring
[ $status -eq 0 ] || fail "$title: exit status $status"
expect_line "$title" 'VERIFY: wrong result: ' 1
expect_line "$title" 'VERIFY: 1 calls of rank 0 agree .* 1 are wrong' 1
expect_calls "$title" ring 2
expect_calls "$title" native 4

# What is wrong on all ranks alike, too: the root's sum, before it is broadcast.
spoil 1,native 2 0 reduce_bcast
[ $status -eq 0 ] || fail "$title: exit status $status"
expect_line "$title" 'VERIFY: wrong result: .* on rank 0 of 2, where native gives' 1

# The command that is told runs.
command=$(sed -n 's/.*to reproduce it: mpiexec -n 2 allreduce //p' "$scratch/out" | tr -d "'")
# shellcheck disable=SC2086 # words of a command
expect_ok "$command" launch 2 ./allreduce $command --time 0.2

# On integers an op of the program's own gives the same bits in any order; and where its result may
# be right, it is told what the ranks have.  Wrong on all ranks alike.
spoil 1 2 0 reduce_bcast users ints 4
case $status in
0 | 124 | 137) fail "$title: exit status $status" ;;
esac
expect_line "$title" 'VERIFY: wrong result: element 999 of 1000 is .* on rank 0 of 2, where native gives 1999' 1
expect_line "$title" "with a user-defined op or type" 1
spoil 1,native 2 0 reduce_bcast users ints 4
[ $status -eq 0 ] || fail "$title: exit status $status"
expect_line "$title" 'VERIFY: 0 calls of rank 0 agree .* 1 are wrong, 0 could not be compared$' 1
spoil 1 2 0 reduce_bcast users pairs 4
[ $status -ne 0 ] || fail "$title: the program did not see the wrong result"
expect_line "$title" "$differs: element 499 of 500 is 0x[0-9a-f]* on rank 0 of 2, where native gives 0x" 1
expect_line "$title" 'VERIFY: 3 calls of rank 0 agree .* 0 are wrong, .*, 1 with user-defined ops' 1

# Ranks that do not call alike would part, or wait for ever.
size='VERIFY: the ranks of an allreduce differ in the size of their message'
ops='VERIFY: the ranks of an allreduce differ in their op: rank 0 has MPI_SUM, ranks 1-3 have MPI_MAX$'
# unlike PATTERN CALLS...: the job ends, and a line tells who has what.
unlike() {
    pattern=$1
    shift
    preload 4 ALLREDUCE_VERIFY=1 "$programs/verify" "$@" >"$scratch/out" 2>&1
    status=$?
    case $status in
    0 | 124 | 137) fail "$*: exit status $status" ;;
    esac
    expect_line "$*" "$pattern" 1
}
unlike "$size: rank 0 has 10 elements of 4 bytes, rank 1 has 8 .* bytes, ranks 2-3 have 10 elements of 4 bytes\$" counts 8 10 0
unlike "$size: rank 0 has no elements, rank 1 has 1 element of 4 bytes, ranks 2-3 have no elements\$" counts 1 0 0
unlike "$size: rank 0 has 100 .*, rank 1 has no elements, rank 2 has 102 .*, rank 3 has 103 " counts 0 100 1
unlike "$ops" ops
for action in warn native; do
    expect_ok "ops, $action" preload 4 ALLREDUCE_VERIFY=1,$action ALLREDUCE_VERBOSE=1 "$programs/verify" ops
    expect_line "ops, $action" "$ops" 1
    expect_line "ops, $action" '0 calls of rank 0 agree .* 0 are wrong, .*, 1 were not alike on all ranks$' 1
    expect_line "ops, $action" 'native *ranks differ$' 1
done
# Open MPI's own allreduce may wait for ever then.
[ "$AR_MPI_FAMILY" = openmpi ] || {
    expect_ok 'counts, warn' preload 4 ALLREDUCE_VERIFY=1,warn "$programs/verify" counts 8 10 0
    expect_line 'counts, warn' "$size" 1
    expect_line 'counts, warn' '2 calls of rank 0 agree .* 1 were not alike on all ranks$' 1
}
preload 7 ALLREDUCE_VERIFY=1 "$programs/verify" counts 1 20 1 >"$scratch/out" 2>&1
expect_line 'seven counts' "$size: rank 0 has 20 .*, rank 4 has 24 elements of 4 bytes, \\.\\.\\.\$" 1
# What MPI does not make equal may differ: types, addresses, settings, at a first call without elements, too.
expect_ok 'layouts' preload 4 ALLREDUCE_VERIFY=1 "$programs/layouts" 4
expect_line 'layouts' 'VERIFY: 18 calls of rank 0 agree .* 0 are wrong, 0 could not be compared$' 1
before="export ALLREDUCE_VERIFY=\$rank"
expect_ok 'settings differ' preload 2 "$programs/layouts" 4
before=

# An error of the comparison's own collectives is the shim's to raise.
for at in 0 1 2; do
    expect_ok "error $at" launch 2 LD_PRELOAD="$fault:$library" FAULT_REDUCE=$at ALLREDUCE_VERIFY=1 ALLREDUCE_TRANSPORT=mpi \
        ALLREDUCE_ALGO=ring "$programs/verify" raised
done

# refused SETTING COLUMN
refused() {
    preload 2 ALLREDUCE_VERIFY="$1" "$programs/verify" ints 1 >"$scratch/out" 2>&1 &&
        fail "'$1' was taken"
    expect_line "'$1'" "^liballreduce: ALLREDUCE_VERIFY: column $2: " 1
}
refused 2 1
refused 1/0 3
refused 1/3,abrot 5
exit $failed
