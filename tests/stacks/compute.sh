#!/bin/sh
# rocprof-compute on MI300 and MI350 against AMD's recordings: run in a stack whose HIP knows these GPUs
# (scripts/test-stacks does so).
#
#   compute.sh PROGRAMS MODEL...
#
# PROGRAMS has vcopy and gemm for the models. vcopy is profiled as it was recorded; a cell that hardware fills has to
# be filled here (filled.py). gemm's 8-bit floats have the operations that follow from the matrices. A partition
# has no recording, but its own number of dies, units and L2 channels. Prints a line per model; the output of a failure
# is in compute-MODEL.log.
set -u
here=$(cd "$(dirname "$0")" && pwd)
cd "${1:?usage: compute.sh PROGRAMS MODEL...}" || exit 1
shift
mkdir -p r
failed=0

# model, recording or -, dies, CUs, L2 channels
facts='
mi300x      MI300X_A1 8 304 128
mi300a      MI300A_A1 6 228  96
mi325x      -         8 304 128
mi300x:cpx  -         1  38  16
mi350x      MI350     8 256 128
mi355x      -         8 256 128
mi350x:cpx  -         1  32  16
'

no() {
	echo "no: $*"
	exit 1
}
tool() { timeout 300 rocprof-compute "$@" >>"$log" 2>&1 || no "rocprof-compute $1 ended with $?"; }
# fact WORKLOAD NAME: a column of sysinfo.csv, none of which up to there has a comma inside
fact() {
	awk -F, -v name="$2" 'NR == 1 { for (k = 1; k <= NF; k++) if ($k == name) at = k } NR == 2 { print $at }' "$1/sysinfo.csv"
}
is() { [ "$2" = "$3" ] || no "$1: $2 instead of $3"; }
# cell REPORT METRIC: its average, or value
cell() { awk -F'│' -v metric="$2" '{ id = $2; gsub(/ /, "", id) } id == metric { gsub(/ /, "", $4); print $4; exit }' "$1"; }

profile_model() {
	model=$1 recording=$2 dies=$3 cus=$4 channels=$5
	dir=r/compute-$name
	rm -rf "$dir"
	mkdir -p "$dir"
	tool profile -n vcopy --output-directory "$dir/vcopy" --no-roof -- ./vcopy -n 1048576 -b 256 -i 3
	is dies "$(fact "$dir/vcopy" num_xcd)" "$dies"
	is "compute units" "$(fact "$dir/vcopy" cu_per_gpu)" "$cus"
	is "L2 channels" "$(fact "$dir/vcopy" total_l2_chan)" "$channels"
	rocprof-compute analyze -p "$dir/vcopy" >"$dir/report" 2>>"$log" || no "analyze ended with $?"
	is "Total Wavefronts" "$(cell "$dir/report" 7.1.2)" 16384.00
	is "rows of a table of L2 channels" "$(grep -c '^│ 18\.3\.' "$dir/report")" "$channels"
	found="sysinfo.csv, $channels channels of L2"
	if [ "$recording" != - ]; then
		is "GPU of the folder" "$(fact "$dir/vcopy" gpu_model)" "$recording"
		rocprof-compute analyze -p "$dir/vcopy" --debug >"$dir/formulas" 2>>"$log" || no "analyze --debug ended with $?"
		found=$(python3 "$here/filled.py" "$recording" "$dir/vcopy" "$dir/report" "$dir/formulas") || {
			echo "$found" >>"$log"
			no "$(echo "$found" | head -n 3 | tr '\n' ';')"
		}
	fi
	# 2 x 96 x 96 x 96, by 36 waves with 3 instructions of 16 x 16 x 32
	tool profile -n gemm --output-directory "$dir/gemm" --no-roof -b 10.4 11.3 -k 'gemm_mfma<fp8>' -- ./gemm -n 96
	rocprof-compute analyze -p "$dir/gemm" -b 10.4 11.3 >"$dir/gemm.report" 2>>"$log" || no "analyze ended with $?"
	is "MFMA-F8 instructions" "$(cell "$dir/gemm.report" "$(id_of "$dir/gemm.report" MFMA-F8)")" 108.00
	is "F8 OPs" "$(cell "$dir/gemm.report" "$(id_of "$dir/gemm.report" 'F8 OPs')")" 1769472.00
	echo "$found"
}
# id_of REPORT NAME: of a metric, whose number depends on the GPU
id_of() { awk -F'│' -v name="$2" '{ metric = $3; gsub(/^ +| +$/, "", metric) } metric == name { gsub(/ /, "", $2); print $2; exit }' "$1"; }

for model; do
	line=$(echo "$facts" | awk -v model="$model" '$1 == model')
	[ -n "$line" ] || continue
	name=$(echo "$model" | tr : -)
	log=$PWD/compute-$name.log
	: >"$log"
	export WAVESCOPE_GPU="$model"
	begin=$(date +%s%N)
	# shellcheck disable=SC2086
	found=$(profile_model $line 2>>"$log")
	case $found in "no: "* | "") word=FAILED failed=1 ;; *) word=ok ;; esac
	printf '  %-16s %-12s %5d ms  %s\n' "$name-profile" $word $((($(date +%s%N) - begin) / 1000000)) "$found"
done
exit $failed
