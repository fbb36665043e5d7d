#!/bin/sh
# The sample runs on the software GPU, through AMD's HIP, and prints what the manual shows.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_softgpu
need_sample vcopy

for gpu in mi210 mi100; do
	run wavescope run --gpu "$gpu" -- "$WS_BUILD/samples/vcopy" -n 1048576 -b 256
	rc_is 0
	out_has 'vcopy testing on GCD 0'
	out_has 'Total threads: 1048576, Grid Size: 4096 block Size:256, Wavefronts:16384:'
	out_has 'Releasing CPU memory'
done

# No room for the GPU's memory: what to do is said.
(
	ulimit -f 1000
	run wavescope run -- "$WS_BUILD/samples/vcopy" -n 1024 -b 64
	[ "$rc" -ne 0 ] || fail "ran without memory"
	err_has 'raise it (ulimit -f)'
)
