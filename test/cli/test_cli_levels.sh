#!/bin/sh
# What is read of the levels inside a node is what hwloc's lstopo reads from the same files: of this machine, of made-up
# ones, and of the real ones whose trees are in shared/topologies beside the source tree, where it is there.
# shellcheck source=test/cli/common.sh
. "${srcdir:-.}/test/cli/common.sh"

command -v lstopo-no-graphics >/dev/null || {
    echo "lstopo-no-graphics not found (Debian package hwloc-nox)"
    exit 77
}
top=$(cd "${srcdir:-.}" && pwd) || exit 99
compared=0

# lines NAME KIND ROOT: a line for each object of hwloc's that has CPUs.
lines() {
    lstopo-no-graphics -i "$3" --if fsroot --no-io --disallowed --only "$2" --cpuset --taskset 2>/dev/null |
        sed -n "s/.*cpuset=\(0x[0-9a-f]*\)\$/$1 \1/p" | grep -v ' 0x0$'
}

# clusters ROOT: those of hwloc, which leaves out clusters that share a cache of level 2.
clusters() {
    lstopo-no-graphics -i "$1" --if fsroot --no-io --disallowed --only group --cpuset --taskset 2>/dev/null |
        sed -n 's/^Group[0-9]*(Cluster) .*cpuset=\(0x[0-9a-f]*\)$/cache \1/p'
}

# by_hwloc ROOT: what hwloc says.  Clusters count where there is no cache of level 3.
by_hwloc() {
    lines core core "$1"
    lines cache l3cache "$1" >"$scratch/caches"
    [ -s "$scratch/caches" ] || clusters "$1" >"$scratch/caches"
    cat "$scratch/caches"
    lines numa numa "$1"
    lines socket package "$1"
}

# compare WHAT ROOT
compare() {
    by_hwloc "$2" | sort >"$scratch/hwloc"
    test/cli/levels show "$2" | sort >"$scratch/ours"
    [ -s "$scratch/hwloc" ] || {
        echo "FAIL: $1: hwloc says nothing"
        failed=1
    }
    diff "$scratch/hwloc" "$scratch/ours" >"$scratch/diff" || {
        echo "FAIL: $1: hwloc (<) and the levels read (>) differ"
        cat "$scratch/diff"
        failed=1
    }
    compared=$((compared + 1))
}

compare "this machine" /
number=0
while mkdir "$scratch/made" && test/cli/levels make $number "$scratch/made"; do
    compare "made-up machine $number" "$scratch/made"
    rm -rf "$scratch/made"
    number=$((number + 1))
done
[ $number -ge 6 ] || {
    echo "FAIL: only $number made-up machines"
    failed=1
}

for archive in "$top"/../shared/topologies/*.tar.bz2; do
    [ -e "$archive" ] || {
        echo "no shared/topologies: the trees of real machines are left out"
        continue
    }
    mkdir "$scratch/real"
    tar xjf "$archive" -C "$scratch/real" || failed=1
    for tree in "$scratch"/real/*; do
        compare "$(basename "$tree")" "$tree"
        if [ -n "$(clusters "$tree")" ]; then # and what stands for the caches
            rm -r "$tree"/sys/devices/system/cpu/cpu*/cache/index3
            compare "$(basename "$tree") without its caches of level 3" "$tree"
        fi
    done
    rm -rf "$scratch/real"
done
echo "$compared machines compared"
exit $failed
