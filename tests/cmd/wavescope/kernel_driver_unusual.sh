#!/bin/sh
# Programs that the preloaded library cannot expect: the table at the end of docs/kernel-driver.md, row by row.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_softgpu
need_sample vcopy

export WAVESCOPE_DRIVER=kernel
limit_s=20
vcopy=$WS_BUILD/samples/vcopy

# Chains of exec, with less of the environment each time, and descriptors closed on the way.
run wavescope run -- sh -c 'exec env A=1 sh -c "exec 3>&- 4>&- 5>&- 6>&-; exec nice \"\$0\" -n 1024 -b 64" "$0"' "$vcopy"
rc_is 0
out_has 'Releasing CPU memory'

# Without the environment there is no GPU, and the runtime says so.
run wavescope run -- env -i "$vcopy" -n 1024 -b 64
[ "$rc" -ne 0 ] || fail "found a GPU without the environment"

# What the loader will not load anything into is reported before it starts, and starts.
if [ -x "$WS_BUILD/tests/kfd/kfd-static" ]; then
	run wavescope run -- "$WS_BUILD/tests/kfd/kfd-static"
	rc_is 1
	out_is '/dev/kfd: No such file or directory'
	err_is "wavescope: warning: '$WS_BUILD/tests/kfd/kfd-static' is statically linked, so the software GPU cannot be loaded into it: only programs that it starts see it"
	run wavescope run -- sh -c '"$0"; :' "$WS_BUILD/tests/kfd/kfd-static"
	err_is_empty
else
	skip_part "no static C library"
fi
cp "$vcopy" "$work/privileged"
if [ "$(id -u)" = 0 ] && chown 65534 "$work/privileged" && chmod u+s "$work/privileged"; then
	chmod 755 "$work"
	run wavescope run -- "$work/privileged" -n 1024 -b 64
	[ "$rc" -ne 0 ] || fail "found a GPU with another user's privileges"
	err_has "'$work/privileged' gains privileges (set-user-ID or similar), so the loader does not load the software GPU"
else
	skip_part "only root can make a program of another user"
fi

# Limits that leave no space for a GPU are named.
run sh -c 'ulimit -v 4000000; exec "$@"' limited wavescope run -- "$vcopy" -n 1024 -b 64
[ "$rc" -ne 0 ] || fail "found a GPU in 4 GB of address space"
err_has 'cannot set up device memory: the limit on address space is too low: remove it (ulimit -v unlimited)'

# A sandbox that lists what AMD's runtime needs over a real driver.
if [ -x "$WS_BUILD/tests/kfd/kfd-sandboxed" ]; then
	for others in errno kill; do
		run wavescope run -- "$WS_BUILD/tests/kfd/kfd-sandboxed" $others
		[ "$rc" -ne 77 ] || { skip_part "no seccomp filters here"; break; }
		rc_is 0
		out_is worked
	done
	# The collector's thread is in the sandbox, too.
	if [ "$rc" -ne 77 ] && [ -e "$WS_BUILD/lib/libwavescope-collector.so" ]; then
		run rocprofv3 --memory-copy-trace --hsa-core-trace -d traced -o s -f csv -- \
			"$WS_BUILD/tests/kfd/kfd-sandboxed" kill traced
		rc_is 0
		out_has worked
		is "$(rows traced/s_memory_copy_trace.csv)" 2 copies
	fi
fi
