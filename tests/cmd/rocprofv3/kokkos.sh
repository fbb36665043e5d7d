#!/bin/sh
# --kokkos-trace: what Kokkos tells its tools becomes markers, and names kernels.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
app=$WS_BUILD/tests/cmd/kokkos_like
[ -x "$app" ] || skip "kokkos_like is not in this build (no hipcc?)"

run env KOKKOS_TOOLS_LIBS= rocprofv3 --kokkos-trace --kernel-trace -f csv -d out -o k -- "$app"
rc_is 0
out_is "1 tools, fencing off"
err_lacks kokkos_like:
is "$(cut -d, -f2 out/k_marker_api_trace.csv | sed 1d | sort | tr '\n' ' ')" \
	'"Kokkos::deep_copy: Host x_host <- HIP x" "axpy" "checkpoint" "norm" "solver" "time step" ' markers
is "$(sed 1d out/k_kernel_trace.csv | cut -d'"' -f6)" axpy "the kernel's name"

# A tool of the user's stays, and comes first; without the option none is added.
run env KOKKOS_TOOLS_LIBS=/nowhere/libtheirs.so rocprofv3 --kokkos-trace -f csv -d b -o k -- \
	sh -c 'echo "$KOKKOS_TOOLS_LIBS"'
rc_is 0
case $(cat "$out") in
"/nowhere/libtheirs.so;"*kokkosp.so) ;;
*) fail "KOKKOS_TOOLS_LIBS=$(cat "$out")" ;;
esac
run rocprofv3 --marker-trace -f csv -d c -o k -- sh -c 'echo "${KOKKOS_TOOLS_LIBS-unset}"'
out_is unset
