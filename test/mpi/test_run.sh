#!/bin/sh
# allreduce run starts a program under the library and the user's own preloads, and refuses
# where that would silently do nothing or go wrong; one rank says why.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

limit=30
allreduce=$PWD/allreduce
tool=$programs/.libs/profiler_next.so
few_calls=$programs/few_calls

# It runs, with the program's own arguments untouched.
expect_row "a program" ring 4 launch 3 "$allreduce" run --algo ring --verbose "$few_calls"
[ "$(grep -c -v '^liballreduce:' "$scratch/out")" -eq 0 ] || fail "more than the summary was printed"
expect_row "without a launcher" ring 4 "$allreduce" run -v -a ring "$few_calls"
# shellcheck disable=SC2016
expect_ok "a script with arguments" "$allreduce" run sh -c 'echo "$0 $1 $ALLREDUCE_ALGO"' --algo=x -v
grep -q -x -e '--algo=x -v ' "$scratch/out" || fail "the program's arguments were read"
expect_ok "every rank's table" launch 2 "$allreduce" run -v2 "$few_calls"
[ "$(grep -c 'calls of rank' "$scratch/out")" -eq 2 ] || fail "-v2 printed no two tables"

# shellcheck disable=SC2016
expect_ok "options for variables" "$allreduce" run --tune --verify --determinism=placement \
    sh -c 'echo "$ALLREDUCE_TUNE $ALLREDUCE_VERIFY $ALLREDUCE_DETERMINISM"'
grep -q -x 'online 1 placement' "$scratch/out" || fail "variables: $(cat "$scratch/out")"
expect_ok "a verified run" launch 2 "$allreduce" run -v --verify=1/2,warn --algo ring "$few_calls"
grep -q 'ALLREDUCE_VERIFY: 2 calls of rank 0 agree' "$scratch/out" || fail "nothing was verified: $(cat "$scratch/out")"

# A file of rules is found from another folder.
printf 'star: 0-80\nring\n' >"$scratch/rules"
cat >"$scratch/moves" <<END
#!/bin/sh
cd / && exec "$few_calls"
END
chmod +x "$scratch/moves"
cat >"$scratch/starts" <<END
#!/bin/sh
cd "$scratch" && exec "$allreduce" run -v --rules rules ./moves
END
chmod +x "$scratch/starts"
expect_row "rules" star 2 launch 2 "$scratch/starts"
expect_calls "rules" ring 2
! grep -q 'not checked' "$scratch/out" || fail "a script was told to be unchecked"
if command -v python3 >/dev/null; then
    expect_ok "an interpreter" "$allreduce" run python3 -c 'print("done")'
    [ "$(cat "$scratch/out")" = "done" ] || fail "an interpreter is not passed in silence: $(cat "$scratch/out")"
fi

# So is the file of statistics, whatever the folder is called.
mkdir "$scratch/100%"
cat >"$scratch/starts" <<END
#!/bin/sh
cd "$scratch/100%" && exec "$allreduce" run --algo ring --stats stats.txt ../moves
END
expect_ok "statistics" launch 2 "$scratch/starts"
grep -q ring "$scratch/100%/stats.txt" || fail "no statistics in a folder with %"

# The user's own preloads stay, behind ours, and ours is there once.
expect_ok "a preload of the user's" launch 2 LD_PRELOAD="$tool" "$allreduce" run --algo native "$few_calls"
[ "$(grep -c '^tool next: 4 Allreduce ' "$scratch/out")" -eq 2 ] || fail "the user's preload was lost"
# shellcheck disable=SC2016
expect_ok "LD_PRELOAD" env LD_PRELOAD="$tool $library:/nowhere/liballreduce.so.0" \
    "$allreduce" run sh -c 'echo "is $LD_PRELOAD"'
grep -q -x "is $library:$tool" "$scratch/out" || {
    fail "LD_PRELOAD is not ours and the user's"
    cat "$scratch/out"
}

# Only runtimes of sanitizers stay before ours, and a program that is linked to AddressSanitizer's needs that.
stand_in=$scratch/libasan.so.8
echo 'int stand_in;' >"$scratch/stand_in.c"
echo 'extern int stand_in; int main(void) { return stand_in; }' >"$scratch/linked.c"
if ${CC:-cc} -shared -fPIC -Wl,-soname,libasan.so.8 -o "$stand_in" "$scratch/stand_in.c" &&
    ${CC:-cc} -o "$scratch/linked" "$scratch/linked.c" "$stand_in" -Wl,-rpath,"$scratch"; then
    # shellcheck disable=SC2016
    expect_ok "a sanitizer" env LD_PRELOAD="$tool:$library:$stand_in" "$allreduce" run sh -c 'echo "is $LD_PRELOAD"'
    grep -q -x "is $stand_in:$library:$tool" "$scratch/out" || fail "a sanitizer is not first: $(cat "$scratch/out")"
    expect_ok "a program of a sanitizer" env LD_PRELOAD="$stand_in" "$allreduce" run "$scratch/linked"
    expect_end "a sanitizer that is not preloaded" 1 "linked is linked to libasan.so.8, .* env LD_PRELOAD=$stand_in allreduce run" \
        "$allreduce" run "$scratch/linked"
    expect_ok "a sanitizer that does not mind" env ASAN_OPTIONS=verify_asan_link_order=0 "$allreduce" run "$scratch/linked"
else
    fail "the stand-in for a sanitizer cannot be built"
fi

# What is wrong with the command line.
expect_end "a bad clause" any 'run: --algo: column 6: .*did you mean .ring' \
    launch 3 "$allreduce" run --algo 'ring;rinng' "$few_calls"
# shellcheck disable=SC2016
expect_end "a late rank 0" any 'run: --algo: column 6: .*did you mean .ring' \
    launch 3 sh -c '[ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" != 0 ] || sleep 0.2; exec "$@"' \
    sh "$allreduce" run --algo 'ring;rinng' "$few_calls"
# What is wrong on another rank alone, or on several, is told by one of them; and so it is of a rank's own command line.
# The job ends then, although the others are in MPI_Init.
printf 'ring\n' >"$scratch/here"
printf '#!/bin/sh\nexec "%s"\n' "$few_calls" >"$scratch/it"
cat >"$scratch/elsewhere" <<END
#!/bin/sh
rank=\${PMI_RANK:-\$OMPI_COMM_WORLD_RANK}
[ "\$rank" != "\$1" ] || cd "$scratch"
[ "\$rank" != "\$2" ] || set -- 0 0 "$allreduce" run --alga
shift 2
exec "\$@"
END
chmod +x "$scratch/elsewhere" "$scratch/it"
expect_end "a file that only rank 0 has" any '^rank [12] on .*: allreduce run: --rules: .here. is neither a file nor' \
    launch 3 "$scratch/elsewhere" 0 none "$allreduce" run --rules here "$few_calls"
[ "$(grep -c 'is neither a file' "$scratch/out")" -eq 1 ] || fail "a file that only rank 0 has: told by two: $(cat "$scratch/out")"
expect_end "a file that nobody has" any "'here' is neither a file nor one of the installed rules" \
    launch 3 "$scratch/elsewhere" none none "$allreduce" run --rules here "$few_calls"
expect_end "a program that rank 0 has" any '^rank 1 on .*: allreduce run: \./it: No such file' \
    launch 2 "$scratch/elsewhere" 0 none "$allreduce" run ./it
expect_end "an unknown option of rank 1" any '^rank 1 on .*: allreduce run: unrecognized option' \
    launch 2 "$scratch/elsewhere" none 1 "$allreduce" run "$few_calls"
expect_end "a bad level" any 'run: --determinism: column 1' \
    launch 3 "$allreduce" run --determinism=never "$few_calls"
expect_end "a bad share" any 'run: --verify: column' launch 3 "$allreduce" run --verify=2 "$few_calls"
expect_end "a bad manner" any 'run: --tune: column 1' launch 3 "$allreduce" run --tune=offline "$few_calls"
expect_end "a bad variable" any 'run: ALLREDUCE_WAIT: column 1' \
    launch 3 ALLREDUCE_WAIT=never "$allreduce" run "$few_calls"
expect_end "an unknown option" any 'unrecognized option' launch 3 "$allreduce" run --alga ring "$few_calls"
expect_end "no program" 2 'name the program' "$allreduce" run --algo ring
expect_end "the launcher behind" 2 'it must come first: mpiexec' "$allreduce" run mpiexec -n 2 "$few_calls"
expect_end "no rules file" 2 'run: --rules: .*No such file' "$allreduce" run --rules "$scratch/none" "$few_calls"
expect_row "ALLREDUCE_STRICT=0" native 4 \
    env ALLREDUCE_STRICT=0 "$allreduce" run -v --algo nonsense "$few_calls"

# What is wrong with the program or the library.
expect_end "no such program" any 'nosuch: not found in PATH' launch 3 "$allreduce" run nosuch
expect_end "its exit status" 127 'No such file' "$allreduce" run ./nosuch
expect_end "a folder" 126 'Permission denied' "$allreduce" run /
expect_end "no such library" 1 'library /nowhere.so: No such file' "$allreduce" run -l /nowhere.so "$few_calls"
echo nonsense >"$scratch/broken.so"
expect_end "a broken library" 1 'would start .* without' "$allreduce" run -l "$scratch/broken.so" "$few_calls"
expect_end "the same, with a script" 1 'would start .* without' \
    "$allreduce" run -l "$scratch/broken.so" "$scratch/moves"
expect_end "another library" 1 "$tool is not liballreduce.so: .* would run without it" "$allreduce" run -l "$tool" "$few_calls"
mkdir "$scratch/a b"
cp "$library" "$scratch/a b"
expect_end "a blank in the path" 1 'cannot hold a path with a blank' "$allreduce" run -l "$scratch/a b/liballreduce.so" "$few_calls"

printf '\177ELF' >"$scratch/static"
head -c 8 "$few_calls" | tail -c 4 >>"$scratch/static"
head -c 120 /dev/zero >>"$scratch/static"
head -c 64 "$few_calls" >"$scratch/cut"
chmod +x "$scratch/static" "$scratch/cut"
expect_end "a static program" 1 'statically linked' "$allreduce" run "$scratch/static"
expect_end "a damaged program" 126 'cut: Exec format error' "$allreduce" run "$scratch/cut"
if [ "$(id -u)" = 0 ]; then
    cp "$few_calls" "$scratch/privileged"
    chown 1 "$scratch/privileged"
    chmod u+s "$scratch/privileged"
    expect_end "a set-user-ID program" 1 'set-user-ID' "$allreduce" run "$scratch/privileged"

    # Another user cannot keep a rank that has failed from telling it and ending the job.
    cat >"$scratch/locked" <<'END'
#!/bin/sh
setpriv --reuid=65534 --clear-groups flock -n "/proc/$PPID" sleep 4 >/dev/null 2>&1 &
sleep 0.5
! flock -n "/proc/$PPID" true || exit 99 # not locked
exec "$@"
END
    chmod +x "$scratch/locked"
    expect_end "another user's lock" any '^rank 1 on .*: allreduce run: unrecognized option' \
        launch 2 "$scratch/locked" "$scratch/elsewhere" none 1 "$allreduce" run "$few_calls"
fi

# A library without an engine for the program's MPI: ours alone, since engines are found from where it is.
mkdir "$scratch/alone"
cp "$library" "$scratch/alone"
expect_end "no engine" any "few_calls runs with libmpi.*, for which $scratch/alone/liballreduce.so has no engine; it has engines for: none" \
    launch 3 "$allreduce" run -l "$scratch/alone/liballreduce.so" "$few_calls"
exit $failed
