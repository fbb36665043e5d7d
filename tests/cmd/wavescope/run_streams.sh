#!/bin/sh
# Input, output, arguments and folder are the program's own, byte for byte.
. "$WS_SOURCE/tests/cmd/lib.sh"
fake_install

head -c 300000 /dev/urandom >"$work/bytes"
wavescope run -- cat <"$work/bytes" >"$work/copy" 2>"$err" || fail "cat failed"
same_files "$work/bytes" "$work/copy" "bytes changed on the way"

run wavescope run -- sh -c 'for a; do echo "<$a>"; done; echo e >&2' sh 'a b' '' '*' -- -g
rc_is 0
out_is '<a b>
<>
<*>
<-->
<-g>'
err_is e

cd "$work"
run wavescope run -- pwd
out_is "$(pwd)"
