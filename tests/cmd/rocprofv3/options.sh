#!/bin/sh
# Every option of AMD's tool is known; mistakes say what to do.
. "$WS_SOURCE/tests/cmd/lib.sh"

run rocprofv3
rc_is 0
out_has "usage: rocprofv3 [options] -- PROGRAM"
out_fits
run rocprofv3 --help
rc_is 0
out_has "--kernel-trace"
out_lacks "--benchmark-mode"
out_fits

# The version: nine lines, keys right-aligned to 16 after four blanks.
for flag in -v --version; do
	run rocprofv3 $flag
	rc_is 0
	is "$(wc -l <"$out")" 9 "lines of $flag"
	is "$(sed -n 's/^    \( *[a-z_]*\): .*/\1/p' "$out" | awk '{ print length }' | sort -u)" 16 width
	is "$(sed 's/^ *\([a-z_]*\): .*/\1/' "$out" | tr '\n' ' ')" \
		"version git_revision library_arch system_name system_processor system_version compiler_id compiler_version rocm_version " keys
done

# All flags, bare, with a value attached, and with a value as the next word.
for option in sys-trace runtime-trace hip-trace hsa-trace kokkos-trace kfd-trace hip-runtime-trace \
	hip-compiler-trace hip-graph-trace hip-event-trace hsa-core-trace hsa-amd-trace hsa-image-trace \
	hsa-finalizer-trace hsa-symbol-queries marker-trace kernel-trace memory-copy-trace memory-allocation-trace \
	scratch-memory-trace rccl-trace rocdecode-trace rocjpeg-trace rocshmem-trace hipfile-trace \
	kfd-page-migration-trace kfd-page-mapping-trace kfd-queue-trace kfd-dropped-events-trace \
	output-config stats summary summary-per-domain mangled-kernels truncate-kernels kernel-rename \
	selected-regions selected-regions-ref-count group-by-queue disable-signal-handlers readlink \
	realpath suppress-marker-preload attach-children attach-sync-output process-sync \
	kernel-replay-beta-enabled att-serialize-all att-perfcounter-target-only att-no-intercept \
	att-no-detail strict keep-captures; do
	run rocprofv3 --kernel-trace --$option --echo -- ./app
	rc_is 0
	out_is "command: ['./app']"
	run rocprofv3 --$option=Yes --kernel-trace --echo -- ./app
	rc_is 0
	run rocprofv3 --kernel-trace --$option off --echo -- ./app
	[ "$option" = kernel-trace ] || rc_is 0
	run rocprofv3 --kernel-trace --$option maybe --echo -- ./app
	rc_is 2
	err_has "option '--$option': 'maybe' is not yes or no"
done

# All options with values.
for words in "-o x" "--output-file x" "-d x" "--output-directory x" "-f csv json pftrace otf2 rocpd html" \
	"--output-format CSV" "--log-level warning" "-E x.yaml" "--summary-groups A B" \
	"--summary-output-file x" "-u usec" "--kernel-include-regex a.*" "--kernel-exclude-regex b" \
	"--kernel-iteration-range [1-3] [5]" "-P 1:2:3 0.5:1:0" "--collection-period-unit msec" \
	"--perfetto-backend system" "--perfetto-buffer-size 100" "--perfetto-buffer-fill-policy ring_buffer" \
	"--perfetto-shmem-size-hint 64" "--preload a.so b.so" "--rocm-root /opt" "--sdk-soversion 1" \
	"--sdk-version 1.0.0" "-A type-relative" "--minimum-output-data 4" "--att-target-cu 1" \
	"--att-simd-select 0xF" "--att-buffer-size 0x1000" "--att-shader-engine-mask 0x1" \
	"--att-gpu-index 0,1" "--att-perfcounters SQ_WAVES:0x1" "--att-perfcounter-ctrl 3" \
	"--att-activity 8" "--att-library-path /x /y" "--att-consecutive-kernels 2" \
	"--profile-mpi-ranks 0-3,8" "--mpi-world-rank-variable R --mpi-world-size-variable S" \
	"--attach-duration-msec 5" "--ompt-trace all task" "--pmc A,B C" "--replay-mode kernel" \
	"--spm A --spm-beta-enabled --spm-sample-interval 5 --spm-sample-interval-unit sclk_cycles" \
	"--benchmark-mode sdk-buffer-overhead" "--capture-limit 100" \
	"--pc-sampling-beta-enabled --pc-sampling-unit time --pc-sampling-method host_trap --pc-sampling-interval 1"; do
	# shellcheck disable=SC2086 # words
	run rocprofv3 --kernel-trace $words --echo -- ./app "a b"
	rc_is 0
	out_has "command: ['./app', 'a b']"
done

expect() {
	code=$1 text=$2
	shift 2
	run rocprofv3 "$@"
	rc_is "$code"
	err_has "$text"
	out_is_empty
}
expect 2 "Fatal error: No application provided" --kernel-trace
expect 2 "'./app' is not yes or no: a program goes after '--'" --kernel-trace ./app
expect 2 "unrecognized arguments: ./app" -o x ./app
expect 2 "unknown option '--kernel-trac': did you mean '--kernel-trace'?" --kernel-trac -- true
expect 2 "no choice 'xml'" -f xml -- true
# A forgotten value does not swallow what follows.
expect 2 "option '-o' needs a value: -o NAME" --kernel-trace -o -- true
expect 2 "option '--minimum-output-data' needs a value" --minimum-output-data -f csv -- true
expect 2 "Fatal error: No tracing options were enabled for --summary option." -S -- true
expect 2 "Fatal error: No tracing options were enabled for --summary-units option." -u sec -- true
expect 2 "Fatal error: No tracing options were enabled for --stats option." --group-by-queue --stats -- true
expect 2 "Fatal error: PC sampling unavailable." --pc-sampling-unit time -- true
expect 2 "Fatal error: All three PC sampling" --pc-sampling-beta-enabled --pc-sampling-unit time -- true
expect 1 "Fatal error: rocprof-trace-decoder library path not found in" --att --att-library-path "$work" -- true
expect 2 "excludes --att-perfcounters" --att --att-activity 3 --att-perfcounters A -- true
expect 2 "does not have a recognized extension (.txt, .json, .yaml, .yml)" -i x.toml -- true
expect 2 "'1:2' is not DELAY:TIME:REPEAT" --kernel-trace -P 1:2 -- true
expect 2 "is not a range" --kernel-trace --kernel-iteration-range '[a]' -- true
expect 2 "is not a regular expression: position 2: missing closing parenthesis" --kernel-trace --kernel-include-regex '(' -- true
expect 2 "must be used together" --kernel-trace --mpi-world-rank-variable R -- true
expect 1 "no counter 'SQ_WAVS' on gfx90a" --pmc SQ_WAVS -- true
expect 2 "No tracing options were enabled" -p 1
expect 1 "driver events are not supported by this version" --kfd-trace -- true
expect 1 "rocDecode calls are not supported by this version" --rocdecode-trace -- true
expect 1 "--preload: no library '/no/such.so'" --kernel-trace --preload /no/such.so -- true
expect 1 "cannot open '/no/such.yaml'" -E /no/such.yaml --kernel-trace -- true
expect 127 "no-such-program" --kernel-trace -- no-such-program
printf '#!/no/such/interpreter\n' >"$work/script"
chmod +x "$work/script"
expect 126 "interpreter '/no/such/interpreter' not found" --kernel-trace -- "$work/script"
# Kernels are chosen for counting only: who traces is told.
run rocprofv3 --kernel-trace --kernel-include-regex x --echo -- true
rc_is 0
err_has "every kernel is traced"
