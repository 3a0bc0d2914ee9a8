#!/bin/sh
# The rules that ship for an MPI library give the bits of its own allreduce, on both sides of each limit that changes
# them.  Each argument of rounded_bits is a communicator of its own, so no call is the fifth one on it.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

folder=$(cd "$srcdir/rules" && pwd)
program=$programs/rounded_bits

# bits RANKS RULES OP COUNT...: for each COUNT of floats, what comes of OP: native, and by the rules.
bits() {
    on=$1
    rules=$2
    op=$3
    shift 3
    calls=
    for count in "$@"; do
        calls="$calls $count/same/native $count/same/"
    done
    # shellcheck disable=SC2086 # words
    preload "$on" ALLREDUCE_USER_OPS=cut ALLREDUCE_RULES="$folder/$rules.rules" "$program" float "$op" $calls \
        >"$scratch/bits" || fail "$rules, $op on $on ranks did not run"
    [ "$(wc -l <"$scratch/bits")" -eq $((2 * $#)) ] || fail "$rules, $op on $on ranks: not two lines for each count: $(cat "$scratch/bits")"
}

# unlike: the counts whose bits are not alike, of those in $scratch/bits.
unlike() {
    printf '%s\n' "$@" | awk -v bits="$scratch/bits" '{ getline native <bits; getline ours <bits; if (native != ours) print }'
}

# alike RANKS COUNT...: the rules give the native bits.
alike() {
    on=$1
    shift
    bits "$on" "$AR_MPI_FAMILY" sum "$@"
    differ=$(unlike "$@")
    [ -z "$differ" ] || fail "$AR_MPI_FAMILY.rules on $on ranks, other bits than native with floats: $differ"
}

# limit RANKS COUNT: natively an op that does not commute has other bits from COUNT floats on.
limit() {
    bits "$1" "$AR_MPI_FAMILY" user $(($2 - 1)) "$2"
    [ "$(sed -n 1p "$scratch/bits")" != "$(sed -n 3p "$scratch/bits")" ] ||
        fail "$1 ranks, an op that does not commute: no other algorithm from $2 floats on"
}

case $AR_MPI_FAMILY in
openmpi)
    alike 3 1 2 1023 1024 2047 2048 4095 4096 16383 16384 65535 65536
    limit 3 32768
    alike 2 1 2 1023 1024 65535 65536
    alike 4 3 4 2047 2048
    alike 5 3 4 2047 2048
    alike 8 2047 2048
    limit 8 262144
    bits 3 openmpi-4.0 sum 1023 1024
    [ "$(unlike 1023 1024)" = 1024 ] || fail "the rules of 4.0 give the bits of this version"
    ;;
mpich)
    for ranks in 2 3 4 5 8; do
        alike $ranks 1 2 3 4 5 512 513 16384
    done
    ;;
esac
exit "$failed"
