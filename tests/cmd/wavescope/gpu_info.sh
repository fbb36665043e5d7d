#!/bin/sh
# gpu-info writes madengine's CSV files of power and memory in use; nothing of it is lost.
. "$WS_SOURCE/tests/cmd/lib.sh"
cd "$work"
fakes=$WS_BUILD/tests/collector
[ -e "$fakes/libamd_smi.so" ] || skip "the stand-ins for AMD's libraries are not in this build"
sampler=
cleanup() { kill -KILL $sampler 2>/dev/null; }
ends() {
	tries=0
	while kill -0 "$sampler" 2>/dev/null && [ $tries -lt 100 ]; do
		sleep 0.05
		tries=$((tries + 1))
	done
	[ $tries -lt 100 ] || fail "the sampler does not end: $1"
}

# ---- real GPUs: two, by a stand-in for libamd_smi ----
real() { run env WAVESCOPE_GPU=native LD_LIBRARY_PATH="$fakes" "$@"; }
file_is() { # FILE, and the values of its last row after the time
	is "$(tail -n 1 "$1" | sed 's/^[0-9]\{4\}-[0-9][0-9]-[0-9][0-9] [0-9][0-9]:[0-9][0-9]:[0-9][0-9]\.[0-9]\{6\},//')" \
		"$(printf '%s\r' "$2")" "last row of $1"
}
real wavescope gpu-info --list
out_is "2 GPUs, read by libamd_smi"
real wavescope gpu-info -m power -o p.csv -- sh -c 'exit 3'
rc_is 3
is "$(head -n 1 p.csv)" "$(printf 'time,Power(Watt) GPU0,Power(Watt) GPU1\r')" header
file_is p.csv 155.0,155.0
real wavescope gpu-info -m vram -d 1,0 -o v.csv -- true
rc_is 0
is "$(head -n 1 v.csv)" "$(printf 'time,vram(%%) GPU1,vram(%%) GPU0\r')" header
file_is v.csv 25.01,25.00

# the second die of a board has no sensor
FAKE_SMI=second-die
export FAKE_SMI
real wavescope gpu-info -m power -o p.csv -- true
err_has "left out, because they report no power: 1"
is "$(head -n 1 p.csv)" "$(printf 'time,Power(Watt) GPU0\r')" header
real wavescope gpu-info -m power -d 0,1 -o p.csv -- true
rc_is 1
err_has "GPU 1 reports no power"
FAKE_SMI=no-power
real wavescope gpu-info -m power -o p.csv -- true
rc_is 1
err_has "no GPU reports its power through libamd_smi"
FAKE_SMI=no-mem
real wavescope gpu-info -m vram -o v.csv -- true
rc_is 0
file_is v.csv N/A,N/A
unset FAKE_SMI
mkdir none
real env LD_LIBRARY_PATH="$work/none" wavescope gpu-info -o p.csv
rc_is 1
err_has "no GPU found by libamd_smi"

# ---- mistakes ----
for words in "-d 2:no GPU 2: there are 2" "-d 0,0:named twice" "-d x:is not a list of GPUs" "-i 0:is not a period" \
	"--dual-gcd -d 0:--dual-gcd requires two GPUs" "--background -- true:--background excludes a program"; do
	# shellcheck disable=SC2086
	real wavescope gpu-info -o m.csv ${words%%:*}
	rc_is 2
	err_has "${words#*:}"
done
real wavescope gpu-info -o m.csv --background -d 7 --pid-file m.pid
rc_is 2
err_has "no GPU 7"
[ ! -e m.pid ] || fail "a sampler that failed has a pid file"
real wavescope gpu-info -o m.csv -- ./no-such-program
rc_is 127

# both dies at once; the exit code is one that is not 0
real wavescope gpu-info -m vram -o d.csv --dual-gcd -- sh -c 'echo $HIP_VISIBLE_DEVICES; exit $HIP_VISIBLE_DEVICES'
rc_is 1
is "$(sort "$out" | tr '\n' ' ')" "0 1 " "dies"

# ---- the scripts of madengine's tools ----
mkdir -p ws/run_directory ws/scripts
ln -s "$WS_SOURCE/data/madengine/scripts/common" ws/scripts/common
cd ws/run_directory
export VRAM_SAMPLING_RATE=0.02 VRAM_DEVICE=all VRAM_OUTPUT_FILE=gpu_info_vram_profiler_output.csv
script() { real bash "../scripts/common/$1" "${2:-}"; }
script pre_scripts/gpu_info_pre.sh
rc_is 0
script pre_scripts/gpu_info_vram_start.sh
rc_is 0
[ "$(rows gpu_info_vram_profiler_output.csv)" -ge 1 ] || fail "it came back before the first row"
sampler=$(cat gpu_info_vram_profiler.pid)
sleep 0.5
script post_scripts/gpu_info_vram_stop.sh
rc_is 0
ends "the stop script"
out_has "rows of 2 GPUs in gpu_info_vram_profiler_output.csv"
[ "$(rows gpu_info_vram_profiler_output.csv)" -ge 10 ] || fail "too few rows in half a second"
[ ! -e gpu_info_vram_profiler.pid ] || fail "the pid file is left"
script post_scripts/gpu_info_post.sh gpu_info_vram_profiler
is "$(stat -c %a gpu_info_vram_profiler_output.csv)" 666 mode
# once more: there is none to stop
script post_scripts/gpu_info_vram_stop.sh
rc_is 0
err_has "it is not running"
cd "$work"

# the name of AMD's script
run env WAVESCOPE_GPU=native LD_LIBRARY_PATH="$fakes" MODE=vram DEVICE=1 SAMPLING_RATE=0.05 \
	"$PYTHON" "$WS_SOURCE/data/madengine/scripts/common/tools/gpu_info_profiler.py" sh -c 'echo here; exit 4'
rc_is 4
out_is here
file_is prof.csv 25.01

# Killed: every row is in the file, and whole. A removed file and the end of another process end it, too.
start() { # FILE OPTION...
	to=$1
	shift
	real wavescope gpu-info -m vram -i 0.01 -o "$to" --background --pid-file s.pid --log-file s.log "$@"
	rc_is 0
	sampler=$(cat s.pid)
}
start k.csv
sleep 0.3
kill -KILL "$sampler"
ends "by SIGKILL"
[ "$(rows k.csv)" -ge 10 ] || fail "killed: $(rows k.csv) rows"
file_is k.csv 25.00,25.01
start k.csv
rm k.csv
ends "its file was removed"
sleep 0.2 &
start k.csv --while-pid $!
ends "the process has ended"

# ---- the software GPU: the memory of other processes ----
need_softgpu
hold=$WS_BUILD/tests/cmd/hold_memory
[ -x "$hold" ] || skip "hold_memory is not in this build (no HSA headers)"
export WAVESCOPE_GPU=mi210
# All processes of the user count, those of other tests, too: they hold less than a tenth.
in_use() { # LOW HIGH, in percent, and when
	run wavescope gpu-info -m vram -o soft.csv -- true
	rc_is 0
	err_has "simulated"
	percent=$(tail -n 1 soft.csv | cut -d, -f2 | tr -d '\r')
	awk -v p="$percent" -v low="$1" -v high="$2" 'BEGIN { exit !(p != "" && p >= low && p < high) }' ||
		fail "$percent % of the memory in use, not $1 to $2: $3"
}
for driver in kernel thunk; do
	[ $driver = kernel ] || [ -e "$WS_BUILD/lib/libhsakmt.so.1" ] || continue
	[ $driver = thunk ] || [ -z "${WS_SANITIZED-}" ] || continue # docs/stacks.md
	rm -f ready
	WAVESCOPE_DRIVER=$driver wavescope run -- "$hold" 16384 ready &
	holder=$!
	sampler=$holder
	tries=0
	while [ ! -e ready ]; do
		kill -0 $holder 2>/dev/null || fail "$driver: hold_memory has ended"
		tries=$((tries + 1))
		[ $tries -lt 1000 ] || fail "$driver: hold_memory does not get its memory"
		sleep 0.05
	done
	in_use 25 35 "a process has 16 of 64 GiB, by the interface '$driver'"
	page=/dev/shm/wavescope-gpus-$(id -u)/$holder
	[ -e "$page" ] || fail "$driver: no page of a process: $page"
	kill -KILL "$holder"
	wait "$holder" 2>/dev/null || :
	in_use 0 10 "the process was killed"
done
# what is no page is left alone
junk=${page%/*}/9junk
head -c 4096 /dev/urandom >"$junk"
in_use 0 10 "with a file that is no page"
rm -f "$junk"
wavescope info >/dev/null
[ ! -e "$page" ] || fail "the page of a killed process stays"
run wavescope gpu-info -m power -o power.csv -- true
rc_is 0
err_has "power of the software GPU"
err_has "simulated"
# idle, or more while kernels of other programs run: they share the GPU
watts=$(tail -n 1 power.csv | sed 's/.*,\([0-9]*\)\.[0-9]\r$/\1/')
[ "$watts" -ge 42 ] && [ "$watts" -le 300 ] || fail "not between idle and the limit: $(tail -n 1 power.csv)"
# an MI210 takes 42 W when it is idle, and at most 300 W
stalls=$WS_BUILD/tests/cmd/stalls
if [ -x "$stalls" ]; then
	run wavescope gpu-info -m power -i 0.05 -o load.csv -- wavescope run -- "$stalls" heavy 0.5
	rc_is 0
	awk -F, 'NR > 1 && $2 + 0 > most { most = $2 + 0 } END { exit !(most > 200 && most <= 300) }' load.csv ||
		fail "power under load: $(cat load.csv)"
else
	skip_part "the program stalls is not in this build (no hipcc?)"
fi
