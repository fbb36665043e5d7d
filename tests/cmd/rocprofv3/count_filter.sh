#!/bin/sh
# Which dispatches are counted: by kernel name, by launch of a kernel, by GPU.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
need_sample reduction
need_sample peer
counted() { "$PYTHON" "$WS_SOURCE/tests/cmd/rocprofv3/counted.py" "$@" || fail "counted.py $*"; }
ids() { counted values "$1" | awk '{ print $1 }' | sort -nu | tr '\n' ' '; }
reduction=$WS_BUILD/samples/reduction
# Dispatches 1, 3, ... are fills; 2, 4, 6 are reduce_lds, _shuffle, _atomic of integers, 8, 10, 12 of floats.
count() {
	rm -rf o
	run rocprofv3 --pmc SQ_WAVES -f csv -d o -o r "$@" -- "$reduction"
	rc_is 0
}
count
is "$(ids o/r)" "1 2 3 4 5 6 7 8 9 10 11 12 " all
count --kernel-include-regex 'reduce_(lds|atomic)'
is "$(ids o/r)" "2 6 8 12 " include
count --kernel-include-regex reduce --kernel-exclude-regex 'float'
is "$(ids o/r)" "2 4 6 " "include and exclude"
count --kernel-include-regex '\breduce_(?:lds|atomic)<[\w ]+>' --kernel-iteration-range 1
is "$(ids o/r)" "2 6 8 12 " "AMD's kind of pattern"
# Look-ahead, look-behind and back references, which AMD's tool understands.
count --kernel-include-regex '^(?=.*float).*reduce_(?!atomic)'
is "$(ids o/r)" "8 10 " "look-ahead"
count --kernel-include-regex 'reduce_' --kernel-exclude-regex '(?<=_lds<)unsigned'
is "$(ids o/r)" "4 6 8 10 12 " "look-behind"
count --kernel-include-regex '_(\w)huffle<(float|int)>\(\2 const'
is "$(ids o/r)" "10 " "back reference"
# A pattern that would take for ever is given up, and the program ends as it does without.
count --kernel-include-regex '^(([a-z_<>() ,*])+.)+[A-Z]([a-z])+$'
err_has "gave up matching"
# The library that matches is in the program only when there is a pattern.
loads() {
	rm -rf ld
	mkdir ld
	LD_DEBUG=files LD_DEBUG_OUTPUT=$work/ld/log run rocprofv3 --pmc SQ_WAVES -f csv -d o -o r "$@" -- "$vcopy" -n 256
	rc_is 0
	log=$(grep -l 'transferring control:.*/vcopy' ld/log.*) || fail "no log of the program's loader"
	grep -q 'libpcre2' "$log"
}
! loads || fail "PCRE2 is loaded into a program without need"
loads --kernel-include-regex vec || fail "PCRE2 is not loaded, and the pattern matched all the same?"
# -T: patterns see the names that are shown.
count -T --kernel-include-regex '^reduce_lds$'
is "$(ids o/r)" "2 8 " "bare names"
count -M --kernel-include-regex '^_Z.*reduce_lds.*\.kd$'
is "$(ids o/r)" "2 8 " "symbols"
# The launches of a kernel, from 1, of those that match.
count --kernel-iteration-range '[2-3]' '[5]'
is "$(ids o/r)" "3 5 9 " "launches of the fill"
count --kernel-include-regex reduce --kernel-iteration-range '[1, [3-9]]'
is "$(ids o/r)" "2 4 6 8 10 12 " "first launches"
# Tracing is not filtered, counting is not switched by periods.
count --kernel-trace --kernel-include-regex reduce_lds
is "$(rows o/r_kernel_trace.csv)" 12 "traced kernels"
is "$(ids o/r)" "2 8 " "counted kernels"
# No kernel matches: said, and no file.
count --kernel-include-regex nothing
err_has "requested, but never observed: counted dispatches"
[ ! -e o/r_counter_collection.csv ] || fail "a file without rows"

# Two GPUs: a counter of one of them, and one that only one architecture has.
WAVESCOPE_GPU=mi210,mi100
export WAVESCOPE_GPU
run rocprofv3 --pmc SQ_WAVES:device=1 GRBM_COUNT SQ_INSTS_VALU_MFMA_MOPS_F64 -f csv -d two -o r -- \
	"$WS_BUILD/samples/peer"
rc_is 0
is "$(cut -d, -f3,16- two/r_counter_collection.csv | grep -c '"Agent 1".*SQ_WAVES')" 0 "GPU 0 was not asked"
grep -q '"Agent 2".*"SQ_WAVES"' two/r_counter_collection.csv || fail "GPU 1 was"
grep -q '"Agent 1".*"GRBM_COUNT"' two/r_counter_collection.csv || fail "no GRBM_COUNT on GPU 0"
grep -q '"Agent 2".*"GRBM_COUNT"' two/r_counter_collection.csv || fail "no GRBM_COUNT on GPU 1"
err_has "absent: SQ_INSTS_VALU_MFMA_MOPS_F64: no counter"
grep -q '"Agent 2","SQ_INSTS_VALU_MFMA_MOPS_F64","absent: ' two/r_counter_info.csv || fail "no reason in the file"
# The program sees the second GPU only: its number stays.
ROCR_VISIBLE_DEVICES=1 run rocprofv3 --pmc SQ_WAVES:device=1 -f csv -d vis -o r -- "$vcopy" -n 65536 -b 256
rc_is 0
is "$(counted values vis/r)" "1 vecCopy SQ_WAVES 1024" "the second GPU alone"
