#!/bin/sh
# Every fuzz target on the inputs of its corpus, of which none takes long.
corpus=${srcdir:-.}/test/fuzz/corpus
failed=0

# runs TARGET FOLDER: on all its inputs, and there are some.
runs() {
    timeout 60 "$1" "$2" >"$1.out" 2>"$1.err" && grep -q '^[1-9][0-9]* inputs$' "$1.out"
}

for folder in "$corpus"/*; do
    target=test/fuzz/fuzz_${folder##*/}
    [ -x "$target" ] || continue # built without jansson
    runs "$target" "$folder" || {
        echo "FAIL: $target $folder"
        tail -n 5 "$target.err"
        failed=1
    }
    rm -f "$target.out" "$target.err"
done
exit $failed
