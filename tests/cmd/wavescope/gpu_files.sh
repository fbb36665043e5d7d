#!/bin/sh
# What management tools read about a GPU (rocm-smi, amd-smi, monitors): one process shows what another one does.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_softgpu
busy=$WS_BUILD/tests/kfd/kfd-keep-busy
[ -x "$busy" ] || skip "the HSA runtime is not installed"

export WAVESCOPE_DRIVER=kernel
limit_s=20
device=/sys/class/drm/renderD128/device
worker=
cleanup() {
	[ -z "$worker" ] || kill "$worker" 2>/dev/null || :
}

# on GPUS COMMAND...
on() {
	gpus=$1
	shift
	run wavescope run --gpu "$gpus" -- "$@"
	rc_is 0
}
# A board that nobody uses, as far as this test knows: another may run beside it, so only what is constant.
on mi210,mi100 cat $device/product_name $device/vbios_version $device/unique_id $device/pcie_replay_count
out_has 'AMD Instinct MI210'
on mi100 cat $device/hwmon/hwmon0/power1_cap
out_is 300000000
# The driver has no edge of a GPU of several dies, and its power at this moment instead of the average.
on mi300x,mi210 sh -c 'cd / && for card in 0 1; do ls /sys/class/drm/card$card/device/hwmon/hwmon$card; done |
	grep -E "^(temp|power1_[ai]|power1_label)" | paste -sd " "'
out_is 'power1_input power1_label temp2_input temp2_label temp3_input temp3_label power1_average power1_label temp1_input'\
' temp1_label temp2_input temp2_label temp3_input temp3_label'
on mi300x cat $device/hwmon/hwmon0/temp2_label $device/hwmon/hwmon0/freq2_label $device/hwmon/hwmon0/power1_label
out_is "$(printf 'junction\nmclk\nPPT')"
on mi300x,mi210 cat /sys/class/drm/card0/device/max_link_speed /sys/class/drm/card1/device/current_link_speed
out_is "$(printf '32.0 GT/s PCIe\n16.0 GT/s PCIe')"

# 96 MiB in use and kernels without a pause, except for what else runs on this machine's cores.
wavescope run --gpu mi210,mi100 --workers 1 -- "$busy" 96 "$work/ready" &
worker=$!
for _ in $(seq 200); do
	[ ! -e "$work/ready" ] || break
	sleep 0.1
done
[ -e "$work/ready" ] || fail "the program does not get ready"
sleep 0.7
on mi210,mi100 sh -fc 'for file; do echo "${file##*/} "$(cat $0/$file); done' $device gpu_busy_percent pp_dpm_sclk \
	mem_info_vram_used hwmon/hwmon0/power1_average hwmon/hwmon0/freq1_input hwmon/hwmon0/temp2_input
out_has 'pp_dpm_sclk 0: 500Mhz 1: 1700Mhz *'
awk '{ value[$1] = $2 } END { exit !(value["gpu_busy_percent"] >= 3 && value["mem_info_vram_used"] >= 96 * 1048576 &&
	value["power1_average"] >= 49e6 && value["freq1_input"] == 1700e6 && value["temp2_input"] > 41000) }' "$out" ||
	fail "wrong values"

# The driver's table of the firmware: size, format 1.3, then temperatures; the load is the tenth number.
on mi210,mi100 od -An -v -tu2 -w120 $device/gpu_metrics
awk -v "bytes=$(wc -w <"$out")" '{ exit !(bytes == 60 && $1 == 120 && $2 == 769 && $9 >= 3 && $9 <= 100 && $12 >= 49 && $28 == 1700) }' \
	"$out" || fail "wrong metrics"

# Its process, by the list of the driver and by its descriptors.
on mi210,mi100 sh -c 'cd / && id=$(cat /sys/class/kfd/kfd/topology/nodes/1/gpu_id) &&
	cat /sys/class/kfd/kfd/proc/$0/vram_$id && cat /sys/class/kfd/kfd/proc/$0/queues/0/gpuid && echo " $id"' $worker
vram=$(head -1 "$out")
# ROCr 6.1 has 140 MiB of its own
[ "$vram" -ge $((96 << 20)) ] && [ "$vram" -lt $((256 << 20)) ] || fail "the process has $(cat "$out")"
awk 'NR == 2 { exit $1 != $2 }' "$out" || fail "a queue of another GPU: $(cat "$out")"
on mi210,mi100 ls -l /proc/$worker/fd
out_has '-> /dev/kfd'
out_has '-> /dev/dri/renderD128'
fd=$(sed -n 's/.* \([0-9]*\) -> .dev.dri.renderD128$/\1/p' "$out" | head -1)
on mi210,mi100 cat "/proc/$worker/fdinfo/$fd"
grep -q '^drm-pdev:	0000:03:00.0$' "$out" || fail "not a DRM descriptor"
grep -qx "drm-memory-vram:	$((vram >> 10)) KiB" "$out" || fail "wrong memory, not $vram bytes"

# It ends, and so does its entry; the rest cools down.
kill "$worker"
wait "$worker" 2>/dev/null || :
on mi210,mi100 ls /sys/class/kfd/kfd/proc
! grep -qx "$worker" "$out" || fail "the process has ended and is still listed"

# Paths lead where they do on any machine.
on mi210 readlink -f /sys/class/drm/card0/device/driver
out_is /sys/bus/pci/drivers/amdgpu
