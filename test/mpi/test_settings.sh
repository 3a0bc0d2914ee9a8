#!/bin/sh
# Settings: what is wrong is told once, with its place, and ends the job; ranks that
# differ neither hang nor err; the summary tells what ran and why.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

limit=30

# by_rank VALUE0 VALUE1 VALUE2: prints a command that runs a program with ALLREDUCE_ALGO
# by its rank.
cat >"$scratch/by_rank" <<'END'
#!/bin/sh
rank=${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-${PMIX_RANK:?}}}
program=$1
shift "$((rank + 1))"
case $1 in
unset) exec "$program" ;;
*) ALLREDUCE_ALGO=$1 exec "$program" ;;
esac
END
chmod +x "$scratch/by_rank"

# expect_agreement VALUE...: one rank for each value; right results, and one rank says
# that they differ.
expect_agreement() {
    expect_ok "ranks with $*" preload $# "$scratch/by_rank" "$programs/few_calls" "$@"
    [ "$(grep -c '^liballreduce: .*differ' "$scratch/out")" -eq 1 ] || {
        fail "ranks with $*: not told once that they differ"
        cat "$scratch/out"
    }
}

# expect_told TEXT VALUE...
expect_told() {
    text=$1
    shift
    expect_agreement "$@"
    grep -q "differ in their ALLREDUCE_ settings: those of rank 0 apply to all ranks; $text" "$scratch/out" || {
        fail "ranks with $*: not told '$text'"
        cat "$scratch/out"
    }
}

# Intel MPI's own variable is read where it is asked for; else a line says that it is not.
unused='^liballreduce: I_MPI_ADJUST_ALLREDUCE is set but not used for MPI_Allreduce; '
expect_row 'intel' ring 1 preload 2 I_MPI_ADJUST_ALLREDUCE=8 ALLREDUCE_ALGO=intel ALLREDUCE_VERBOSE=1 "$programs/few_calls"
! grep "$unused" "$scratch/out" || fail "I_MPI_ADJUST_ALLREDUCE is used, and told not to be"
[ "$(grep -c "Intel MPI's numbers are presets" "$scratch/out")" -eq 1 ] || fail "not told once that Intel's numbers are presets"
expect_ok 'no intel' preload 2 I_MPI_ADJUST_ALLREDUCE=8 "$programs/few_calls"
[ "$(grep -c "$unused" "$scratch/out")" -eq 1 ] || fail "I_MPI_ADJUST_ALLREDUCE: not told once that it is not used"
expect_row "Intel's list" star 4 preload 3 I_MPI_ADJUST_ALLREDUCE_LIST=1-9 ALLREDUCE_ALGO_LIST=star ALLREDUCE_ALGO=intel \
    ALLREDUCE_VERBOSE=1 "$programs/few_calls"

# So for those of other libraries, the MPI library's own among them.
others='OMPI_MCA_coll_tuned_allreduce_algorithm=4 OMPI_MCA_coll_tuned_dynamic_rules_filename=/rules
    MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=nb MPICH_ALLREDUCE_INTRA_ALGORITHM=nb MPIR_PARAM_ALLREDUCE_INTRA_ALGORITHM=nb
    UCC_TL_UCP_TUNE=allreduce:@ring NCCL_ALGO=Ring CCL_ALLREDUCE=ring'
# shellcheck disable=SC2086 # several
expect_ok 'others' preload 2 $others "$programs/few_calls"
for other in $others; do
    [ "$(grep -c "^liballreduce: ${other%%=*} is set but not used for MPI_Allreduce; allreduce convert translates" "$scratch/out")" -eq 1 ] ||
        fail "$other: not told once that it is not used"
done
# shellcheck disable=SC2086 # several
expect_ok 'others, where ALLREDUCE_ALGO chooses' preload 2 $others ALLREDUCE_ALGO=ring "$programs/few_calls"
! grep 'not used' "$scratch/out" || fail "others: told although ALLREDUCE_ALGO chooses"

expect_told 'rank 0 has ALLREDUCE_ALGO=ring, and rank 1 has ALLREDUCE_ALGO=butterfly$' ring butterfly
expect_agreement ring native star
expect_agreement native ring ring
expect_told 'rank 0 has the default, and rank 1 has ALLREDUCE_ALGO=ring$' unset ring
expect_told 'rank 0 has ALLREDUCE_ALGO=ring, and rank 2 has the default$' ring ring unset
expect_agreement shm ring auto
expect_agreement 'ring:0-100;star' 'ring:0-101;star'
expect_agreement 'ring(segment=1K)' 'ring(segment=2K)'
expect_told "rank 0 has ALLREDUCE_ALGO=ring, and rank 1 has an error: ALLREDUCE_ALGO: column 1: unknown algorithm 'nonsense'" ring nonsense
# A file that cannot be written is seen by rank 0 alone, and no difference.
! preload 2 ALLREDUCE_STATS="$scratch/none/file" "$programs/few_calls" >"$scratch/out" 2>&1 </dev/null || fail "no such folder: no error"
grep -q "ALLREDUCE_STATS: column 1: cannot write" "$scratch/out" || fail "no such folder: not told"
! grep 'differ' "$scratch/out" || fail "no such folder: told as a difference"
expect_ok "the same, written otherwise" \
    preload 2 "$scratch/by_rank" "$programs/few_calls" ring ' RING '
[ ! -s "$scratch/out" ] || fail "ranks that agree were said to differ"

# Each variable is set on one rank alone, with another variable on each other rank; calls on all pairs of ranks, in
# either order. The settings of the first rank apply.
cat >"$scratch/by_variable" <<'END'
#!/bin/sh
rank=${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-${PMIX_RANK:?}}}
program=$1
shift "$((rank + 1))"
# shellcheck disable=SC2046 # several, joined by +
exec env $(echo "$1" | tr + ' ') "$program" world pairs
END
chmod +x "$scratch/by_variable"
echo 'star' >"$scratch/star"
variables="ALGO=ring ALGO_LIST=ring DETERMINISM=order LEVELS=flat MODEL=${srcdir:-.}/machines/flat.machine RULES=$scratch/star
    SCRATCH=64K STATS=$scratch/differ STATS_SIGNAL=USR1+ALLREDUCE_STATS=$scratch/signal STREAMING=always STRICT=0 TIMEOUT=80 TRACE=$scratch/differ.trace
    TRANSPORT=mpi TUNE=online TUNE_DUMP=$scratch/dump TUNE_OVERHEAD=50 USER_OPS=cut VERBOSE=1 VERIFY=1 WAIT=sleep
    STREAMING=never TRANSPORT=auto
    STRICT=1 VERBOSE=2 WAIT=yield"
sed -n 's/^    {"ALLREDUCE_\([A-Z_]*\)".*/\1/p' "${srcdir:-.}/src/config/variables.c" >"$scratch/names"
[ "$(wc -l <"$scratch/names")" -gt 10 ] || fail "no variables in variables.c"
while read -r name; do
    case " $(echo "$variables" | xargs) " in
    *" $name="*) ;;
    *) fail "ALLREDUCE_$name is on no rank alone" ;;
    esac
done <"$scratch/names"
for setting in $variables; do
    grep -q -x -e "${setting%%=*}" "$scratch/names" || fail "there is no variable ALLREDUCE_${setting%%=*}"
done
echo "$variables" | xargs -n 3 | sed 's/[^ ]*/ALLREDUCE_&/g' >"$scratch/sets"
while read -r set; do
    # shellcheck disable=SC2086 # several variables
    expect_ok "ranks with $set" preload 3 "$scratch/by_variable" "$programs/environment" $set || continue
    [ "$(grep -c '^rank [012]: 30 calls right, 0 errors' "$scratch/out")" -eq 3 ] ||
        fail "ranks with $set: $(cat "$scratch/out")"
done <"$scratch/sets"

# A library of another version on one rank: nothing is exchanged with it.
mkdir "$scratch/other"
cp "$library" "$scratch/other"
LC_ALL=C sed 's/, protocol [0-9]/, protocol 0/' "${library%/*}/engine-$AR_MPI_FAMILY.so" \
    >"$scratch/other/engine-$AR_MPI_FAMILY.so"
cat >"$scratch/by_version" <<'END'
#!/bin/sh
rank=${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-${PMIX_RANK:?}}}
[ "$rank" != 1 ] || LD_PRELOAD=$1
export LD_PRELOAD
exec "$2"
END
chmod +x "$scratch/by_version"
expect_row "two versions" native 4 launch 3 ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO=ring \
    sh -c "LD_PRELOAD=$library exec $scratch/by_version $scratch/other/liballreduce.so $programs/few_calls"
[ "$(grep -c 'ranks 0 and 1 of a communicator have different versions' "$scratch/out")" -eq 1 ] ||
    fail "two versions: not told once"
grep -q 'native *ranks differ in version' "$scratch/out" || fail "two versions: no reason"
# Nor at the end.
for rank in 0 1; do
    expect_ok "two versions, statistics of rank $rank" launch 2 sh -c "
        [ \${PMI_RANK:-\${OMPI_COMM_WORLD_RANK:-\$PMIX_RANK}} != $rank ] || export ALLREDUCE_STATS=$scratch/versions
        LD_PRELOAD=$library exec $scratch/by_version $scratch/other/liballreduce.so $programs/few_calls"
    [ -s "$scratch/versions.rank$rank" ] || fail "two versions: no statistics of rank $rank"
done

# expect_refusal COLUMN TEXT: an error told once, with the variable and the column.
expect_refusal() {
    expect_end "'$2'" any "^liballreduce: .*ALLREDUCE_ALGO.*column $1\b" preload 3 ALLREDUCE_ALGO="$2" "$programs/few_calls"
}

expect_refusal 1 nonsense
expect_refusal 8 'ring:0-x'
expect_refusal 6 'ring;rinng'
expect_refusal 6 'ring(nothing=1)'
expect_end "a bad setting on rank 0" any '^liballreduce: .*ALLREDUCE_ALGO' preload 2 "$scratch/by_rank" "$programs/few_calls" nonsense ring

# ALLREDUCE_STRICT=0: a warning, and native.
expect_row "ALLREDUCE_STRICT=0" native 4 preload 3 \
    ALLREDUCE_STRICT=0 ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO=nonsense "$programs/few_calls"
grep -q '^liballreduce: .*ALLREDUCE_ALGO: .*; see allreduce list\. Every call runs native$' "$scratch/out" || {
    fail "ALLREDUCE_STRICT=0: no warning"
    cat "$scratch/out"
}

# A misspelt variable is an error, too; one that is near none of ours is told once.
expect_row "a site's variable" ring 4 preload 3 ALLREDUCE_SITE_HOME=/opt ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO=ring \
    "$programs/few_calls"
[ "$(grep -c '^liballreduce: warning: ignored, because this library has no such variable: ALLREDUCE_SITE_HOME' "$scratch/out")" -eq 1 ] || {
    fail "ALLREDUCE_SITE_HOME: not told once"
    cat "$scratch/out"
}
expect_end "ALLREDUCE_ALGOS" any 'ALLREDUCE_ALGOS' preload 2 ALLREDUCE_ALGOS=ring "$programs/few_calls"

# Rules by size and by ranks; Intel's strings.
expect_row "rules" star 2 preload 3 ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO='star:0-80;ring' "$programs/few_calls"
expect_calls "rules" ring 2
expect_row "rules by ranks" ring 4 preload 3 ALLREDUCE_VERBOSE=1 \
    ALLREDUCE_ALGO='star:0-inf@1-2;ring:0-inf@3' "$programs/few_calls"
expect_row "Intel's string" butterfly 2 preload 3 ALLREDUCE_VERBOSE=1 \
    ALLREDUCE_ALGO='1:0-8192@1-16;8' "$programs/few_calls"
expect_calls "Intel's string" ring 1
expect_row "native" native 4 preload 3 ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO=native "$programs/few_calls"
printf '# rules\nstar: 0-80\nring\n' >"$scratch/rules"
expect_row "a rules file" star 2 preload 3 ALLREDUCE_VERBOSE=1 ALLREDUCE_RULES="$scratch/rules" "$programs/few_calls"
expect_calls "a rules file" ring 2
expect_row "a list for auto" star 4 preload 3 ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO_LIST=star "$programs/few_calls"

# A scratch bound makes segments, and right results.
expect_row "little scratch" butterfly 4 preload 3 ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO=butterfly \
    ALLREDUCE_SCRATCH=64K "$programs/few_calls"

# What was named but does not fit is told, with what ran.
expect_row "parameters that do not fit" torus2d 1 preload 4 ALLREDUCE_VERBOSE=1 ALLREDUCE_SCRATCH=64K "$programs/rounded_bits" double sum \
    '64/same/torus2d(dims=3x3)' '64/same/star(root=7)' '64/same/star(root=3)' '90000/same/ring(segment=512K)'
for line in 'torus2d(dims=3x1)  *dims do not fit these ranks: cut' 'star(root=3)  *root is not of these ranks: another' \
    'star(root=3)  *program' 'ring(segment=32688)  *scratch memory is too little: shorter segments'; do
    grep -q " $line\$" "$scratch/out" || {
        fail "parameters that do not fit: no line has $line"
        grep '^liballreduce:' "$scratch/out"
    }
done

# What allreduce convert makes of Open MPI's rules files is what Open MPI takes from them: the bits of its sums tell which
# algorithm ran.
[ "$AR_MPI_FAMILY" = openmpi ] || exit $failed

# tuned WHAT [VARIABLE=VALUE...]: the bits of sums of 64, 128 and 256 bytes, in a line.
tuned() {
    expect_ok "$1" launch 5 OMPI_MCA_coll_tuned_use_dynamic_rules=1 "$@" "$programs/rounded_bits" float sum 16/same/ 32/same/ 64/same/ >&2
    xargs <"$scratch/out"
}
for row in native:0 star:1 butterfly:3 ring:4; do
    echo "${row%:*} $(tuned OMPI_MCA_coll_tuned_allreduce_algorithm="${row#*:}")"
done >"$scratch/known"
[ "$(sed 1d "$scratch/known" | cut -d ' ' -f 2 | sort -u | wc -l)" -eq 3 ] || fail "bits do not tell algorithms: $(cat "$scratch/known")"

# same_as_open_mpi TEXT: of the rules file; where convert refuses it, Open MPI decides.
same_as_open_mpi() {
    printf '%b' "$1" >"$scratch/rules.ompi"
    rules=$(./allreduce convert --from=openmpi "$scratch/rules.ompi" 2>"$scratch/notes") || rules=native
    ./allreduce explain --rules "$rules" -n 5 >"$scratch/explained"
    expected=$(awk 'FNR == NR { bits[$1] = $2 " " $3 " " $4; next }
        $2 ~ /^[0-9]+$/ { split($1, ends, "-"); sub(/\(.*/, "", $3); split(bits[$3], of)
            for (i = 1; i <= 3; i++) if (32 * 2 ^ i >= ends[1] && (ends[2] == "inf" || 32 * 2 ^ i <= ends[2])) took[i] = of[i] }
        END { print took[1], took[2], took[3] }' "$scratch/known" "$scratch/explained")
    took=$(tuned OMPI_MCA_coll_tuned_dynamic_rules_filename="$scratch/rules.ompi")
    [ "$took" = "$expected" ] || {
        fail "Open MPI takes $took from $1, and not $expected"
        cat "$scratch/known" "$scratch/notes" "$scratch/explained"
    }
}
same_as_open_mpi '1 2 3\n2 1 0 3 0 0\n5 3\n0 1 0 0\n100 4 0 0\n200 3 0 0\n8 1 0 3 0 0\n'
same_as_open_mpi '1 2 1 8 1\n0 1 0 0 # for fewer ranks than 8, too\n'
same_as_open_mpi '2\n2 1 1 1 0 1 0 0\n2 1 1 1 0 4 0 0 # the last counts\n'
same_as_open_mpi '1 2 1 1 1\n100 1 0 0 # the first is not 0\n'
same_as_open_mpi '1 2 1 1 1\n0 1 0 0\n100 4 0 0 # not counted\n'
same_as_open_mpi '1\n2\n1\n0 1\n1 1\n0 4 # of coll_han\n'
same_as_open_mpi '1 7 1 1 1\n0 1 0 0 # not for allreduce\n'
same_as_open_mpi '1 2 2\n1 1 0 1 0 0\n5 0 # no rule\n'
same_as_open_mpi '1 02 01 0x1 2\n0 1 0 0\n0x64 4 0 0\n'
same_as_open_mpi '1 2 1 1 2\n0 1 0 0\n100 0 0 0 # its own choice\n'
exit $failed
