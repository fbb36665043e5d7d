#!/bin/sh
# doctor looks at everything, explains what will not work, and its exit code is that of
# the software GPU.
. "$WS_SOURCE/tests/cmd/lib.sh"

run wavescope doctor
err_is_empty
for word in 'GPU and driver' 'amdgpu driver' '/dev/kfd' 'HSA runtime' 'HIP runtime' hipcc \
	aqlprofile 'profiler request' 'GPU counters' 'sole profiler' 'PC sampling' 'software GPU' 'perf events' ptrace 'locked memory' launcher 'What works'; do
	out_has "$word"
done
grep -q '^  \(yes\|no\)   *HIP programs on the software GPU' "$out" || fail "no verdict"
if grep -q '^  yes  *HIP programs on the software GPU' "$out"; then rc_is 0; else rc_is 1; fi

# A compiler that takes no time: what is compared here does not depend on it.
mkdir "$work/quick"
printf '#!/bin/sh\necho HIP version: 5.2\n' >"$work/quick/hipcc"
chmod +x "$work/quick/hipcc"
PATH=$work/quick:$PATH

# What the driver wants of a profiler of whole GPUs, from the software GPU's driver. It knows PC sampling for an
# MI210, and the runtime may not; for an MI100 the driver has none.
if [ -z "$WS_SANITIZED" ] && [ -e "$WS_BUILD/lib/libwavescope-kfd.so" ]; then
	run env LD_PRELOAD="$WS_BUILD/lib/libwavescope-kfd.so" WAVESCOPE_GPU=mi210 wavescope doctor
	out_has 'yes  profiler request   version 1'
	out_has '  gfx90a                  SQ 8, TA 2, TD 2, TCP 4,'
	out_has 'yes  its counters       gfx90a'
	out_has 'yes  sole profiler      no other in the environment'
	grep -q '^  \(yes  PC sampling  *driver and runtime have it\|no   PC sampling  *the runtime .* has no PC sampling that works\)' "$out" ||
		fail "no answer of the driver"
	run env LD_PRELOAD="$WS_BUILD/lib/libwavescope-kfd.so" WAVESCOPE_GPU=mi100 ROCP_TOOL_LIBRARIES=tool.so wavescope doctor
	out_has 'no   sole profiler      ROCP_TOOL_LIBRARIES=tool.so'
	out_has 'no   PC sampling        the kernel driver has no PC sampling for these GPUs: install'
fi

# Without its library it says so, once, with what to do, and fails.
mkdir -p "$work/alone/bin"
cp "$WS_BUILD/bin/wavescope" "$work/alone/bin/"
run "$work/alone/bin/wavescope" doctor
rc_is 1
out_has 'no   HIP programs on the software GPU   needs software GPU'
out_has "run 'make', or install wavescope again"
[ "$(grep -c "software GPU's library was not" "$out")" = 1 ] || fail "said more than once"

# A file that is no library is not taken for one.
fake_install
run wavescope doctor
rc_is 1
grep -q '^  no   ROCr starts on it' "$out" || fail "an empty library passes"
