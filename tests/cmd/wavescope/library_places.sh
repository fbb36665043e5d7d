#!/bin/sh
# The library is found beside the program, installed (lib/wavescope) or in a build tree (lib),
# through links and from any folder; without it, one clear line.
. "$WS_SOURCE/tests/cmd/lib.sh"
fake_install
WAVESCOPE_DRIVER=thunk # whatever ROCr this machine has
export WAVESCOPE_DRIVER
prefix=$work/prefix
unset LD_LIBRARY_PATH 2>/dev/null || true

: >"$prefix/lib/libhsakmt.so.1"
run wavescope run -- sh -c 'echo $LD_LIBRARY_PATH'
out_is "$prefix/lib/wavescope"
rm "$prefix/lib/wavescope/libhsakmt.so.1"
# A public folder may hold the real driver library: it is not ours to take.
run wavescope run -- true
rc_is 125
: >"$prefix/build.ninja"
run wavescope run -- sh -c 'echo $LD_LIBRARY_PATH'
out_is "$prefix/lib"

mkdir "$work/elsewhere"
ln -s "$prefix/bin/wavescope" "$work/elsewhere/wavescope"
cd /
run "$work/elsewhere/wavescope" run -- sh -c 'echo $LD_LIBRARY_PATH'
out_is "$prefix/lib"

rm "$prefix/lib/libhsakmt.so.1"
run wavescope run -- true
rc_is 125
err_is "wavescope: the software GPU (libhsakmt.so.1) was not found next to this program: run 'make', or install wavescope again"
run wavescope info --gpu mi210
rc_is 1
err_has 'was not found next to this program'
