#!/bin/sh
# AMD's own thunk, ROCr and HIP on the software GPU, through the kernel driver's interface.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_softgpu
need_sample vcopy

export WAVESCOPE_DRIVER=kernel

# The genuine thunk is what is loaded, and it finds the GPU.
run wavescope run --gpu mi210 -- sh -c \
	'LD_TRACE_LOADED_OBJECTS=1 "$0" | grep -c "$1" || :' "$WS_BUILD/samples/vcopy" "$WS_BUILD/lib/libhsakmt"
out_is 0
run wavescope run --gpu mi210,mi100 -- sh -c 'cat /sys/class/kfd/kfd/topology/nodes/*/name'
rc_is 0
out_has mi210
out_has mi100

# Commands of ours find the library that is in use.
run wavescope info --gpu mi210
rc_is 0
out_has 'AMD Instinct MI210'

# Kernels, copies from memory that the program allocated, events, scratch.
run wavescope run --gpu mi210 -- "$WS_BUILD/samples/vcopy" -n 1048576 -b 256
rc_is 0
out_has 'Releasing CPU memory'
for program in tests/hip/pinned tests/hip/ipc samples/peer; do
	[ -x "$WS_BUILD/$program" ] || continue
	run wavescope run --gpu mi210,mi210 -- "$WS_BUILD/$program"
	rc_is 0
done

# A process that holds memory and runs nothing costs no CPU: none of its threads wakes up.
if [ -x "$WS_BUILD/tests/cmd/hold_memory" ]; then
	wavescope run -- "$WS_BUILD/tests/cmd/hold_memory" 16 "$work/ready" &
	holder=$!
	cleanup() { kill $holder 2>/dev/null || :; }
	for _ in $(seq 100); do [ -e "$work/ready" ] || sleep 0.1; done
	switches() { awk '/^voluntary/ { n += $2 } END { print n }' /proc/$holder/task/*/status; }
	sleep 0.2
	before=$(switches)
	sleep 0.5
	[ $(($(switches) - before)) -le 1 ] || fail "an idle process woke up $(($(switches) - before)) times"
	cleanup
fi

WAVESCOPE_DRIVER=sideways
run wavescope run -- true
rc_is 2
err_has "WAVESCOPE_DRIVER is 'sideways': give thunk or kernel"

if [ ! -e "$WS_BUILD/lib/libhsakmt.so.1" ]; then
	skip "this build has no thunk interface to compare with (no hsakmt.h of ROCm 5)"
fi

# Without a word from the user, who asks the driver gets its interface: by the program, its script or its arguments.
# driver_of WANT PROGRAM...
unset WAVESCOPE_DRIVER
driver_of() {
	want=$1
	shift
	run wavescope run -- "$@"
	rc_is 0
	case $(cat "$out") in *libwavescope-kfd.so*) got=kernel ;; *) got=thunk ;; esac
	is "$got" "$want" "interface of $*"
}
print='echo "$LD_PRELOAD"'
for script in plain smi; do printf '#!/bin/sh\n%s\n' "$print" >$script.sh; done
echo 'exec true; rocm-smi --showuse' >>smi.sh
chmod +x plain.sh smi.sh
driver_of thunk sh -c "$print"
if [ "$got" = thunk ]; then
	driver_of thunk ./plain.sh
	driver_of kernel ./smi.sh
	driver_of kernel sh smi.sh
	driver_of kernel sh -c "$print # /dev/dri"
	if part_needs rocminfo; then
		cp "$(command -v rocminfo)" other_name
		run wavescope run -- ./other_name
		rc_is 0
		out_has gfx90a
	fi
fi

# Counters are the same on both ways to the GPU.
for driver in kernel thunk; do
	WAVESCOPE_DRIVER=$driver
	run rocprofv3 --pmc SQ_WAVES SQ_INSTS_VALU -d "$work/$driver" -o out -f csv -- \
		"$WS_BUILD/samples/vcopy" -n 65536 -b 256
	rc_is 0
	# the kernel's name has commas: count from the end
	awk -F, '{ print $(NF - 3), $(NF - 2) }' "$work/$driver/out_counter_collection.csv" |
		sort >"$work/$driver.values"
done
grep -q '"SQ_WAVES" 1024' "$work/kernel.values" || fail "no such counter: $(cat "$work/kernel.values")"
cmp -s "$work/kernel.values" "$work/thunk.values" || fail "counters differ: $(cat "$work"/*.values)"

# The choice follows the runtime that will be loaded: one that contains the thunk, one that uses functions which the
# replaced thunk does not have, one that it serves.
unset WAVESCOPE_DRIVER
mkdir "$work/rocr"
for rocr in kernel: 'kernel:libhsakmt.so.1\0hsaKmtOpenKFD\0hsaKmtNotYetInvented\0' \
	'thunk:libhsakmt.so.1\0hsaKmtOpenKFD\0hsaKmtOpenKFD failed.\0'; do
	printf "\\0${rocr#*:}" >"$work/rocr/libhsa-runtime64.so.1"
	run env LD_LIBRARY_PATH="$work/rocr" wavescope run -- sh -c \
		'case $LD_PRELOAD in *wavescope-kfd*) echo kernel ;; *) echo thunk ;; esac'
	out_is "${rocr%%:*}"
done

# The last of these runtimes is for the thunk, but this program will ask the kernel.
printf '#!/bin/sh\necho "${LD_PRELOAD##*/}"\n' >"$work/rocm-smi"
chmod +x "$work/rocm-smi"
run env LD_LIBRARY_PATH="$work/rocr" wavescope run -- "$work/rocm-smi"
out_is libwavescope-kfd.so
if part_needs rocminfo; then
	run wavescope run --gpu mi210 -- rocminfo
	rc_is 0
	out_has 'AMD Instinct MI210'
fi
