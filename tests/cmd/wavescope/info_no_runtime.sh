#!/bin/sh
# Without a usable HSA runtime, info says what is missing and what to install.
. "$WS_SOURCE/tests/cmd/lib.sh"
fake_install

# A file of that name in front of the real one, as a broken installation has it.
mkdir "$work/broken"
echo garbage >"$work/broken/libhsa-runtime64.so.1"
LD_LIBRARY_PATH=$work/broken
export LD_LIBRARY_PATH
[ ! -e /opt/rocm/lib/libhsa-runtime64.so.1 ] || skip "ROCm in /opt/rocm would be found instead"
run wavescope info --gpu mi210
rc_is 1
out_is_empty
err_has 'no HSA runtime'
err_has 'install libhsa-runtime64-1 or ROCm'
