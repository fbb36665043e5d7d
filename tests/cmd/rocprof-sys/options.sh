#!/bin/sh
# Every option of rocprof-sys-run and rocprof-sys-sample sets what it should, in all spellings.
. "$WS_SOURCE/tests/cmd/lib.sh"
HOME=$work
export HOME
cd "$work"
unset ROCPROFSYS_TRACE ROCPROFSYS_CONFIG_FILE
: >empty.cfg

# sets PROGRAM "OPTIONS" NAME=VALUE...: exactly these are shown, without their prefix.
sets() {
	program=$1
	options=$2
	shift 2
	# shellcheck disable=SC2086 # the options are words
	run "$program" $options -- true
	rc_is 0
	for one in "$@"; do echo "ROCPROFSYS_$one"; done | sort >expected
	grep '^\(ROCPROFSYS: \)\{0,1\}[A-Z_]*=' "$err" | sed 's/^ROCPROFSYS: //' | sort >shown
	cmp -s expected shown || fail "$program $options: $(diff expected shown)"
}
# Both programs; sample always samples.
both() {
	sets rocprof-sys-run "$@"
	sets rocprof-sys-sample "$@" USE_SAMPLING=true
}

both "--monochrome" MONOCHROME=true
both "--debug=false" DEBUG=false
both "-c empty.cfg" CONFIG_FILE=empty.cfg
both "--config empty.cfg empty.cfg" CONFIG_FILE=empty.cfg:empty.cfg
both "-o out" OUTPUT_PATH=out
both "-o out pre" OUTPUT_PATH=out OUTPUT_PREFIX=pre
both "--output=out" OUTPUT_PATH=out
both "-T" TRACE=true
both "--trace no" TRACE=false
both "-P" PROFILE=true
both "--profile=on" PROFILE=true
both "-F" PROFILE=true FLAT_PROFILE=true
both "-PT" PROFILE=true TRACE=true
both "-TPHD" TRACE=true PROFILE=true USE_PROCESS_SAMPLING=true CPU_FREQ_ENABLED=true USE_AMD_SMI=true
both "-H" USE_PROCESS_SAMPLING=true CPU_FREQ_ENABLED=true USE_AMD_SMI=false
both "--device" USE_PROCESS_SAMPLING=true CPU_FREQ_ENABLED=false USE_AMD_SMI=true
both "-H off" USE_PROCESS_SAMPLING=false CPU_FREQ_ENABLED=false USE_AMD_SMI=false
both "-w 0.1 -d 2.5" TRACE_DELAY=0.1 SAMPLING_DELAY=0.1 TRACE_DURATION=2.5 SAMPLING_DURATION=2.5
both "--wait=1.0 --sampling-wait 3" TRACE_DELAY=1.0 SAMPLING_DELAY=3
both "-I ompt rcclp" USE_OMPT=true USE_RCCLP=true
both "-I kokkosp -I mpip amd-smi rocm" USE_KOKKOSP=true USE_MPIP=true USE_AMD_SMI=true USE_ROCM=true
both "-E mutex-locks rw-locks spin-locks" TRACE_THREAD_LOCKS=false TRACE_THREAD_RW_LOCKS=false \
	TRACE_THREAD_SPIN_LOCKS=false
both "-I all -E all" USE_KOKKOSP=false USE_MPIP=false USE_OMPT=false USE_RCCLP=false USE_AMD_SMI=false \
	USE_ROCM=false TRACE_THREAD_LOCKS=false TRACE_THREAD_RW_LOCKS=false TRACE_THREAD_SPIN_LOCKS=false
both "--trace-file a.proto" PERFETTO_FILE=a.proto
both "--trace-buffer-size=100" PERFETTO_BUFFER_SIZE_KB=100
both "--trace-fill-policy ring_buffer" PERFETTO_FILL_POLICY=ring_buffer
both "--trace-wait=1.0e-12 --trace-duration=5.0" TRACE_DELAY=1.0e-12 TRACE_DURATION=5.0
both "--trace-periods 1:2 3:4:5" "TRACE_PERIODS=1:2 3:4:5"
both "--trace-clock-id boottime" TRACE_PERIOD_CLOCK_ID=boottime
both "-P --profile-format json console" PROFILE=true JSON_OUTPUT=true COUT_OUTPUT=true TEXT_OUTPUT=false
both "-F --profile-format text" PROFILE=true FLAT_PROFILE=true JSON_OUTPUT=false COUT_OUTPUT=false \
	TEXT_OUTPUT=true
both "--profile-diff old pre-" DIFF_OUTPUT=true INPUT_PATH=old INPUT_PREFIX=pre-
both "--process-freq 50 --process-wait 0.0 --process-duration 10" PROCESS_SAMPLING_FREQ=50 \
	PROCESS_SAMPLING_DELAY=0.0 PROCESS_SAMPLING_DURATION=10
both "-H --cpus 0-4,6" USE_PROCESS_SAMPLING=true CPU_FREQ_ENABLED=true USE_AMD_SMI=false SAMPLING_CPUS=0-4,6
both "-D --gpus 0 1" USE_PROCESS_SAMPLING=true CPU_FREQ_ENABLED=false USE_AMD_SMI=true SAMPLING_GPUS=0,1
both "--sampling-duration 10 -t 0-3 7" SAMPLING_DURATION=10 SAMPLING_TIDS=0-3,7
both "-C perf::INSTRUCTIONS" PAPI_EVENTS=perf::INSTRUCTIONS
both "-i" SAMPLING_INCLUDE_INLINES=true
run rocprof-sys-run --hsa-interrupt 0 -- sh -c 'echo "is $HSA_ENABLE_INTERRUPT"'
out_is "is 0"
err_has "ROCPROFSYS: HSA_ENABLE_INTERRUPT=0"

run_sets() { sets rocprof-sys-run "$@"; }
run_sets "-S" USE_SAMPLING=true
run_sets "-S cputime realtime" USE_SAMPLING=true SAMPLING_CPUTIME=true SAMPLING_REALTIME=true
run_sets "-f 100" SAMPLING_FREQ=100
run_sets "--periods 1:2" TRACE_PERIODS=1:2
run_sets "--fork"
run_sets "--sample-cputime 1000 1.0 0-3" USE_SAMPLING=true SAMPLING_CPUTIME=true SAMPLING_CPUTIME_FREQ=1000 \
	SAMPLING_CPUTIME_DELAY=1.0 SAMPLING_CPUTIME_TIDS=0-3
run_sets "--sample-realtime 10 0.5" USE_SAMPLING=true SAMPLING_REALTIME=true SAMPLING_REALTIME_FREQ=10 \
	SAMPLING_REALTIME_DELAY=0.5
run_sets "--sample-overflow perf::CYCLES 10000 0" USE_SAMPLING=true SAMPLING_OVERFLOW=true \
	SAMPLING_OVERFLOW_EVENT=perf::CYCLES SAMPLING_OVERFLOW_FREQ=10000 SAMPLING_OVERFLOW_TIDS=0
run_sets "--ci --dl-verbose 2 --mode trace" CI=true DL_VERBOSE=2 MODE=trace
run_sets "--perfetto-annotations=off --tmpdir $work --use-pid false" PERFETTO_ANNOTATIONS=false TMPDIR=$work \
	USE_PID=false
run_sets "--timemory-components wall_clock peak_rss --time-output off" \
	TIMEMORY_COMPONENTS=wall_clock,peak_rss TIME_OUTPUT=false
run_sets "--rocm-domains hip_api kernel_dispatch" ROCM_DOMAINS=hip_api,kernel_dispatch
run_sets "--enable-categories host user" ENABLE_CATEGORIES=host,user
sample_sets() { sets rocprof-sys-sample "$@" USE_SAMPLING=true; }
echo 'nonsense = 1' >"$HOME/.rocprof-sys.cfg"
sample_sets "-c" CONFIG_FILE=
rm "$HOME/.rocprof-sys.cfg"
sample_sets "-f 100" SAMPLING_FREQ=100
sample_sets "--freq=100" SAMPLING_FREQ=100
sample_sets "--sampling-freq 100" SAMPLING_FREQ=100
sample_sets "--sampling-realtime 20" SAMPLING_REALTIME=true SAMPLING_REALTIME_FREQ=20 SAMPLING_CPUTIME=false
run_sets "--sampling-cputime 10" USE_SAMPLING=true SAMPLING_CPUTIME=true SAMPLING_CPUTIME_FREQ=10
sample_sets "--cputime" SAMPLING_CPUTIME=true
sample_sets "--realtime 20" SAMPLING_REALTIME=true SAMPLING_REALTIME_FREQ=20 SAMPLING_CPUTIME=false
sample_sets "--realtime --cputime" SAMPLING_REALTIME=true SAMPLING_CPUTIME=true

# Verbosity: nothing, and the command.
run rocprof-sys-run -v -1 -T -- true
err_is_empty
run rocprof-sys-run -v 1 -T -- echo hi
err_has "ROCPROFSYS: Executing 'echo hi'..."
out_is hi
# What the environment has already is no change.
ROCPROFSYS_TRACE=true run rocprof-sys-run -T -- true
err_lacks ROCPROFSYS_TRACE

# Without '--': the first word that is no option starts the command.
run rocprof-sys-sample -c empty.cfg sh -c 'exit 5' -c other
rc_is 5
run rocprof-sys-run -PT -o there sh -c 'echo "$0 $1"' -P on
rc_is 0
out_is "-P on"
err_has "ROCPROFSYS: ROCPROFSYS_OUTPUT_PATH=there"
run rocprof-sys-run sh -c 'exit 6'
rc_is 6
run rocprof-sys-sample --cputime 50 0.1 sh -c 'exit 9'
rc_is 9
err_has "ROCPROFSYS_SAMPLING_CPUTIME_FREQ=50"
err_has "ROCPROFSYS_SAMPLING_CPUTIME_DELAY=0.1"

# A file names others: beside it, absolute, or by a variable; they are read when they are named.
mkdir sub
printf 'sampling_freq = 1\nconfig_file = sub/more.cfg\nsampling_delay = 1\n' >main.cfg
printf 'sampling_freq = 2\nsampling_delay = 2\nconfig_file = $env:HOME/last.cfg:again.json\n' >sub/more.cfg
echo 'max_depth = 3' >last.cfg
echo '{"rocprof-sys": {"settings": {"max_width": 99}}}' >sub/again.json
ROCPROFSYS_CONFIG_FILE=main.cfg run rocprof-sys-avail --advanced --csv -r '_(SAMPLING_FREQ|SAMPLING_DELAY|MAX_DEPTH|MAX_WIDTH)$'
rc_is 0
for row in SAMPLING_FREQ,2 SAMPLING_DELAY,1 MAX_DEPTH,3 MAX_WIDTH,99; do
	out_has "ROCPROFSYS_$row,"
done
echo 'config_file = loop.cfg' >loop.cfg
run rocprof-sys-run -c loop.cfg -- true
rc_is 1
err_has "rocprof-sys-run: ./loop.cfg:1: more than 16 files that name each other"
printf 'trace = on\nconfig_file = unknown.cfg\n' >outer.cfg
echo 'ROCPROFSYS_NONSENSE = 1' >unknown.cfg
run rocprof-sys-run -c outer.cfg -- true
err_has "rocprof-sys-run: ./unknown.cfg:1: Unknown setting"
echo 'config_file = nowhere.cfg' >outer.cfg
run rocprof-sys-run -c outer.cfg -- true
err_has "rocprof-sys-run: outer.cfg:1: configuration file: "

# Mistakes.
wrong() { # STATUS MESSAGE COMMAND...
	wanted=$1
	message=$2
	shift 2
	run "$@"
	rc_is "$wanted"
	err_has "$message"
}
wrong 2 "rocprof-sys-run: unknown option '--tarce': did you mean '--trace'?" rocprof-sys-run --tarce -- true
wrong 2 "--profile and --flat-profile exclude each other" rocprof-sys-run -P -F -- true
wrong 2 "--profile-format needs --profile or --flat-profile" rocprof-sys-sample --profile-format json -- true
wrong 2 "no choice 'html'" rocprof-sys-run -P --profile-format html -- true
wrong 2 "--cpus needs --host" rocprof-sys-run --cpus 0 -- true
wrong 2 "--gpus needs --device" rocprof-sys-run --gpus 0 -- true
wrong 2 "no back end 'cuda'" rocprof-sys-run -I cuda -- true
wrong 2 "no choice 'gputime': use cputime or realtime" rocprof-sys-run -S gputime -- true
wrong 2 "'--hsa-interrupt': '2' is not 0 or 1" rocprof-sys-run --hsa-interrupt 2 -- true
wrong 2 "ROCPROFSYS_TRACE_DELAY: 'soon' is not a number" rocprof-sys-run -w soon -- true
wrong 2 "ROCPROFSYS_TRACE_PERIODS: '1' is not DELAY:DURATION" rocprof-sys-run --periods 1 -- true
wrong 2 "'x' is not a list of threads" rocprof-sys-sample -t x -- true
wrong 2 "ROCPROFSYS_SAMPLING_CPUS: 'x' is not a number or range" rocprof-sys-run -H --cpus x -- true
wrong 2 "exclude each other: use one" rocprof-sys-run --enable-categories host --disable-categories user -- true
wrong 1 "no CPU counter 'nonsense' on this machine" rocprof-sys-run --sample-overflow nonsense -- true
wrong 1 "ROCPROFSYS_MODE=causal is not supported" rocprof-sys-run --mode causal -- true
wrong 127 "'no-such-program'" rocprof-sys-run -- no-such-program
wrong 1 "configuration file: " rocprof-sys-run -c missing.cfg -- true
echo 'ROCPROFSYS_NONSENSE = 1' >unknown.cfg
wrong 1 "unknown.cfg:1: Unknown setting 'ROCPROFSYS_NONSENSE' (value = '1')" rocprof-sys-run -c unknown.cfg -- true
run rocprof-sys-run
rc_is 1
err_has "usage: rocprof-sys-run [options] [--] PROGRAM [ARG...]"
out_is_empty
for program in rocprof-sys-run rocprof-sys-sample; do
	for help in -h '-?' --help; do
		run $program $help
		rc_is 0
		out_has "usage: $program"
	done
	run $program --version
	rc_is 0
done

# What has no effect is said, once for each reason; a category that does not exist, too.
run rocprof-sys-run --kokkosp-name-length-max 5 --kokkosp-prefix x --ci --disable-categories hots -- true
rc_is 0
is "$(grep -c 'no effect' "$err")" 2 "lines about settings without effect"
err_has "warning: ROCPROFSYS_KOKKOSP_NAME_LENGTH_MAX, ROCPROFSYS_KOKKOSP_PREFIX: no effect: names are recorded"
err_has "warning: ROCPROFSYS_DISABLE_CATEGORIES: no category 'hots': did you mean 'host'?"
run rocprof-sys-run --timemory-components wall_clock peek_rss -- true
rc_is 0
err_has "warning: ROCPROFSYS_TIMEMORY_COMPONENTS: no component 'peek_rss': did you mean 'peak_rss'?"
# Variables of files reach the program; unknown ones do when that is allowed.
printf '$env:FROM_FILE = a b\nstrict_config = off\nROCPROFSYS_NEWER = 7\nother = 1\n' >export.cfg
run rocprof-sys-run -c export.cfg -- sh -c 'echo "$FROM_FILE $ROCPROFSYS_NEWER"'
out_is "a,b 7"
