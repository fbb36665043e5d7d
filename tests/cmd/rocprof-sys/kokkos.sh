#!/bin/sh
# Kokkos patterns and regions, with AMD's names, around the HIP calls that they make.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
app=$WS_BUILD/tests/cmd/kokkos_like
[ -x "$app" ] || skip "kokkos_like is not in this build (no hipcc?)"

run rocprof-sys-run -P -o out --time-output off --use-pid off --use-sampling off --use-process-sampling off \
	-I kokkosp -- "$app"
rc_is 0
out_is "1 tools, fencing off"
is "$(sed -n 's/^| |0>>> \([^|]*|_\)\?\(.*[^ ]\)  *|  *\([0-9]*\) |  *\([0-9]*\) | wall_clock.*/\4 \2;/p' out/wall_clock.txt | tr -d '\n')" \
	"0 kokkos_like;1 hipMalloc;1 time step;2 solver;2 axpy [for][dev1];3 hipLaunchKernel;4 kernel_with_an_unreadable_name(int*);2 norm [reduce][dev1];2 Kokkos::deep_copy: Host x_host <- HIP x;2 checkpoint;1 hipDeviceSynchronize;" \
	"depths and names"
# Not requested: no tool is opened.
run rocprof-sys-run -P -o none --time-output off --use-pid off --use-sampling off -- "$app"
out_is "0 tools, fencing on"
