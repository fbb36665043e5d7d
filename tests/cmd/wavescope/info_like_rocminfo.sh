#!/bin/sh
# Byte for byte what AMD's own rocminfo prints on the same software GPUs. It wants to see
# a kernel module and a device file first: give it both.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_softgpu
need_program rocminfo
shim=$WS_BUILD/tests/cmd/libkfdshim.so
[ -e "$shim" ] || skip "no shim in this build"

mkdir "$work/bin"
printf '#!/bin/sh\necho amdgpu 1 0\n' >"$work/bin/lsmod"
chmod +x "$work/bin/lsmod"
for gpu in mi210 mi100 mi250x mi210,mi100; do
	# Into rocminfo alone, after what the build itself may have to preload.
	PATH=$work/bin:$PATH run wavescope run --gpu "$gpu" -- \
		sh -c 'LD_PRELOAD=${LD_PRELOAD:+$LD_PRELOAD:}$0 exec rocminfo' "$shim"
	rc_is 0
	! grep -q '^Runtime Ext Version' "$out" ||
		skip "this rocminfo is of ROCm 6 and prints more lines; wavescope info prints those of ROCm 5"
	# Its first line is about the kernel module.
	grep -v 'ROCk module' "$out" >"$work/theirs"
	grep -q 'Agent 2' "$work/theirs" || fail "rocminfo saw no GPU"
	run wavescope info --gpu "$gpu"
	rc_is 0
	diff "$work/theirs" "$out" >"$work/diff" || {
		cat "$work/diff"
		fail "info --gpu $gpu differs from rocminfo"
	}
done
