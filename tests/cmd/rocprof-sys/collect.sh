#!/bin/sh
# What the collector is asked for: services, samplers, metrics, periods, flags, in its own words.
. "$WS_SOURCE/tests/cmd/lib.sh"
[ -e "$WS_BUILD/lib/libwavescope-sample.so" ] || skip "libwavescope-sample.so is not in this build"
HOME=$work WAVESCOPE_GPU=native
export HOME WAVESCOPE_GPU
cd "$work"

# has "OPTIONS" WORD...: the request has these words; "!WORD": it does not.
has() {
	options=$1
	shift
	# shellcheck disable=SC2086 # the options are words
	run rocprof-sys-run -v -1 $options -- sh -c 'echo "$WAVESCOPE_COLLECT"'
	rc_is 0
	for word in "$@"; do
		case $word in
		!*) ! tr ';' '\n' <"$out" | grep -q -e "^${word#!}" || fail "$options: ${word#!} is in $(cat "$out")" ;;
		*) tr ';' '\n' <"$out" | grep -qxF -e "$word" || fail "$options: no $word in $(cat "$out")" ;;
		esac
	done
}

usual=hip-runtime,marker,kernel,memory-copy,scratch-memory
has "" "services=$usual,call-stacks,metrics,regions" cputime=3333333:500000000:0:27: !realtime !overflow !period \
	monitor=10000000:0:0 monitor-what=busy,temp,power,mem_usage monitor-gpus=all !monitor-cpus \
	flags=thread-barriers,thread-join,mpi log=error
# Services.
has "-E rocm --use-sampling off --use-process-sampling off" services=regions !cputime !monitor
has "-E rocm amd-smi --use-sampling off" services=regions
has "--mode trace -E amd-smi" "services=$usual,regions"
has "--mode trace -E amd-smi --rocm-domains hip_api hsa_api roctx memory_allocation rccl_api" \
	services=hip-runtime,hip-compiler,hsa-core,hsa-amd,hsa-image,hsa-finalizer,marker,memory-allocation,rccl,regions
has "--mode trace -E amd-smi -I rcclp" "services=$usual,rccl,regions"
has "--mode trace -E amd-smi --rocm-domains kernel_dispatch -I kokkosp" services=marker,kernel,regions
# Samplers.
has "-f 100 --sampling-wait 0 --sampling-duration 2.5 -t 0 2-3" cputime=10000000:0:2500000000:27:0+2-3
has "-S realtime -f 50" realtime=20000000:500000000:0:34: !cputime
has "-S cputime realtime --sample-realtime 10 0.25 1" cputime=3333333:500000000:0:27: \
	realtime=100000000:250000000:0:34:1
has "--sampling-cputime-signal 40" cputime=3333333:500000000:0:40:
has "--sample-overflow perf::INSTRUCTIONS 10000 0" overflow=10000:500000000:0:35:0 \
	overflow-event=0:1:perf::INSTRUCTIONS !cputime
has "--sample-overflow PAPI_TOT_CYC" overflow=300:500000000:0:35: overflow-event=0:0:PAPI_TOT_CYC
has "-S --sample-overflow" overflow-event=0:2:perf::PERF_COUNT_HW_CACHE_REFERENCES
# Metrics.
has "-H" monitor-what=process,io !monitor-gpus=x
has "-H --cpus 0-2 5" monitor-what=process,io,cpu_freq,cpu_load monitor-cpus=0-2,5
has "-D --gpus 1-2 --amd-smi-metrics all" monitor-gpus=1-2 \
	monitor-what=busy,temp,power,mem_usage,vcn_activity,jpeg_activity,clock
has "--amd-smi-metrics none" !monitor
has "-D --gpus none" !monitor
has "--process-freq 5000 --process-wait 1 --process-duration 2" monitor=1000000:2000000000:1000000000
has "-f 20" monitor=50000000:0:0
has "--sampling-duration 3" monitor=10000000:3000000000:0
# Times; 0 is to the end, which is far away.
has "-w 0.5 -d 2" period=500000000:2000000000:1 cputime=3333333:500000000:2000000000:27:
has "--trace-wait 1" period=1000000000:2305843009213693951:1
has "--trace-periods 1:2 0.5:1:3 0:1:0" period=1000000000:2000000000:1,500000000:1000000000:3,0:1000000000:0
has "--periods 1:2:1:realtime" period=1000000000:2000000000:1
has "--periods 1:2:1:cputime 1:2" period=1000000000:2000000000:1:cpu,1000000000:2000000000:1
has "-w 1 --trace-clock-id cputime --trace-periods 1:2:3:realtime" \
	period=1000000000:2305843009213693951:1:cpu,1000000000:2000000000:3
# Flags.
waits="--trace-thread-barriers off --trace-thread-join off --use-mpip off"
has "$waits" !flags
has "$waits --follow-children off" flags=no-children
has "$waits --selected-regions --rocm-group-by-queue" flags=selected-regions,group-by-queue
run rocprof-sys-run --debug -- sh -c 'echo "$WAVESCOPE_COLLECT"'
grep -q 'log=debug' "$out" || fail "no debug messages"
