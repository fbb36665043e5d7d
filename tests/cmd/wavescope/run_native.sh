#!/bin/sh
# --gpu native leaves the environment alone, and refuses where there is no GPU.
. "$WS_SOURCE/tests/cmd/lib.sh"
fake_install

if grep -qs '^simd_count [1-9]' /sys/class/kfd/kfd/topology/nodes/*/properties; then
	run wavescope run --gpu native -- sh -c 'echo "${WAVESCOPE_GPU-unset}|${LD_LIBRARY_PATH-unset}"'
	rc_is 0
	out_is "unset|${LD_LIBRARY_PATH-unset}"
else
	run wavescope run --gpu native -- true
	rc_is 125
	err_is "wavescope: no AMD GPU in this machine: omit '--gpu native' to use the software GPU"
	run wavescope info --gpu native
	rc_is 1
	err_has "omit '--gpu native'"
fi
