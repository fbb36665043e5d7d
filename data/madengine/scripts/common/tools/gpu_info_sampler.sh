#!/bin/sh
# Starts and stops the samplers of the tools gpu_info_power_profiler and gpu_info_vram_profiler. Run in the
# model's folder, which has the files of a sampler that is running: its process id and its log.
#
#   gpu_info_sampler.sh start power|vram
#   gpu_info_sampler.sh stop power|vram

kind=$2
name=gpu_info_${kind}_profiler
case $kind in
power) device=${POWER_DEVICE:-} rate=${POWER_SAMPLING_RATE:-} mode=${POWER_MODE:-} file=${POWER_OUTPUT_FILE:-} dual=${POWER_DUAL_GCD:-} ;;
vram) device=${VRAM_DEVICE:-} rate=${VRAM_SAMPLING_RATE:-} mode=${VRAM_MODE:-} file=${VRAM_OUTPUT_FILE:-} dual=${VRAM_DUAL_GCD:-} ;;
*)
	echo "gpu_info_sampler.sh: no sampler '$kind': power or vram" >&2
	exit 2
	;;
esac

case $1 in
start)
	# comes back when the first row is in the file
	shift 2
	[ "$dual" != true ] || set -- --dual-gcd
	exec wavescope gpu-info --mode "${mode:-$kind}" --device "${device:-all}" --interval "${rate:-0.1}" \
		--output "${file:-${name}_output.csv}" --pid-file "$name.pid" --log-file "$name.log" \
		"$@" ${MADENGINE_PID:+--while-pid "$MADENGINE_PID"} --background
	;;
stop)
	[ -e "$name.pid" ] || {
		echo "$name: it is not running: $name.log tells why" >&2
		exit 0
	}
	pid=$(cat "$name.pid")
	kill -TERM "$pid" 2>/dev/null
	# It removes the file when it ends, which is at once; five seconds are for a machine that is very busy. Its
	# process may stay as a zombie: the first process of a container waits for nobody.
	tries=0
	while [ -e "$name.pid" ] && kill -0 "$pid" 2>/dev/null && [ $tries -lt 100 ]; do
		sleep 0.05
		tries=$((tries + 1))
	done
	if [ -e "$name.pid" ]; then
		kill -KILL "$pid" 2>/dev/null && echo "$name: killed: it did not end; the rows so far are in the file" >&2
		rm -f "$name.pid"
	fi
	[ ! -s "$name.log" ] || tail -n 20 "$name.log"
	exit 0
	;;
esac
