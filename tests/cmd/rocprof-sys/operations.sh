#!/bin/sh
# ROCM_*_OPERATIONS: selected operations of each domain only, and what happens inside the others.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
HOME=$work ROCPROFSYS_USE_SAMPLING=false ROCPROFSYS_USE_PROCESS_SAMPLING=false ROCPROFSYS_TIME_OUTPUT=off ROCPROFSYS_USE_PID=off
export HOME ROCPROFSYS_USE_SAMPLING ROCPROFSYS_USE_PROCESS_SAMPLING ROCPROFSYS_TIME_OUTPUT ROCPROFSYS_USE_PID
# labels: of the profile, without the tree's lines
labels() { sed -n 's/^| |0>>> *\(|_\)\{0,1\}\([^|]*[^| ]\) *|.*/\2/p' out/wall_clock.txt | sort -u | tr '\n' ' '; }
# depth LABEL: how deep it is
depth() { awk -F'|' -v label="_$1" 'index($0, label) { print $(NF - 10) + 0; exit }' out/wall_clock.txt; }

# Of HIP two functions; of HSA all but one family; no copies to the GPU; of memory what is freed.
ROCPROFSYS_ROCM_HIP_RUNTIME_API_OPERATIONS='hipMemcpy ^hipLaunchKernel$'
ROCPROFSYS_ROCM_HSA_CORE_API_OPERATIONS=hsa_queue_create
ROCPROFSYS_ROCM_HSA_AMD_EXT_API_OPERATIONS_EXCLUDE='.*'
ROCPROFSYS_ROCM_MEMORY_COPY_OPERATIONS_EXCLUDE=HOST_TO_DEVICE
ROCPROFSYS_ROCM_MEMORY_ALLOCATION_OPERATIONS='FREE$'
ROCPROFSYS_ROCM_MEMORY_ALLOCATION_OPERATIONS_EXCLUDE=VMEM
export ROCPROFSYS_ROCM_HIP_RUNTIME_API_OPERATIONS ROCPROFSYS_ROCM_HSA_CORE_API_OPERATIONS \
	ROCPROFSYS_ROCM_HSA_AMD_EXT_API_OPERATIONS_EXCLUDE ROCPROFSYS_ROCM_MEMORY_COPY_OPERATIONS_EXCLUDE \
	ROCPROFSYS_ROCM_MEMORY_ALLOCATION_OPERATIONS ROCPROFSYS_ROCM_MEMORY_ALLOCATION_OPERATIONS_EXCLUDE
run rocprof-sys-run -P -T -o out --rocm-domains hip_runtime_api hsa_core_api hsa_amd_ext_api kernel_dispatch memory_copy \
	memory_allocation -- "$vcopy" -n 4096
rc_is 0
err_lacks "no operation"
is "$(labels)" "MEMORY_COPY_DEVICE_TO_HOST hipLaunchKernel hipMemcpy hsa_queue_create vcopy vecCopy(double*, double*, double*, int, int) " "labels"
# The kernel is below the call that launched it, though calls in between are left out.
is "$(depth vecCopy)" 2 "depth of the kernel"
freed=$(sed -n 's/^ *memory allocations *\([0-9]*\) .*/\1/p' "$err")
[ "${freed:-0}" -gt 0 ] || fail "no freed memory: $(cat "$err")"
unset ROCPROFSYS_ROCM_HIP_RUNTIME_API_OPERATIONS ROCPROFSYS_ROCM_HSA_CORE_API_OPERATIONS \
	ROCPROFSYS_ROCM_HSA_AMD_EXT_API_OPERATIONS_EXCLUDE ROCPROFSYS_ROCM_MEMORY_COPY_OPERATIONS_EXCLUDE \
	ROCPROFSYS_ROCM_MEMORY_ALLOCATION_OPERATIONS ROCPROFSYS_ROCM_MEMORY_ALLOCATION_OPERATIONS_EXCLUDE

# RCCL, and an expression that matches nothing.
ROCPROFSYS_ROCM_RCCL_API_OPERATIONS_EXCLUDE=ncclAll ROCPROFSYS_ROCM_HIP_COMPILER_API_OPERATIONS=hipLaunch \
	run rocprof-sys-run -P -o out --rocm-domains rccl_api -- "$WS_BUILD/tests/collector/rccl-program"
rc_is 7
case $(labels) in *ncclAll*) fail "calls that were left out: $(labels)" ;; *ncclBroadcast*) ;; *) fail "no calls: $(labels)" ;; esac
err_has "no operation of HIP_COMPILER_API_EXT matches 'hipLaunch': none is recorded"

# Markers: ranges have the names of both of their functions.
need_program cc
cat >marks.c <<'END'
void roctxMarkA(const char *), roctxRangeStop(unsigned long);
int roctxRangePushA(const char *), roctxRangePop(void);
unsigned long roctxRangeStartA(const char *);
int main(void)
{
	roctxMarkA("a mark");
	roctxRangePushA("outer");
	roctxRangeStop(roctxRangeStartA("from thread to thread"));
	roctxRangePop();
	return 0;
}
END
cc -o marks marks.c -L"$WS_BUILD/lib" -lrocprofiler-sdk-roctx -Wl,-rpath,"$WS_BUILD/lib" || fail "marks.c"
# shown OPERATIONS EXCLUDED
shown() {
	ROCPROFSYS_ROCM_MARKER_API_OPERATIONS=$1 ROCPROFSYS_ROCM_MARKER_API_OPERATIONS_EXCLUDE=$2 \
		run rocprof-sys-run -P -o out --rocm-domains marker_api -- ./marks
	rc_is 0
	labels
}
is "$(shown '' '')" "a mark from thread to thread marks outer " "all markers"
is "$(shown roctxRangePush '')" "marks outer " "ranges of a thread"
is "$(shown '' 'roctxMark,roctxRangeStart')" "marks outer " "others left out"
is "$(shown roctx roctxThreadRange)" "a mark from thread to thread marks " "a range left out"

ROCPROFSYS_ROCM_HIP_RUNTIME_API_OPERATIONS='hip(' run rocprof-sys-run -- true
rc_is 2
err_has "ROCPROFSYS_ROCM_HIP_RUNTIME_API_OPERATIONS: 'hip(' is not a regular expression: "
