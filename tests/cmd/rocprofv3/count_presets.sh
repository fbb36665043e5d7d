#!/bin/sh
# The counter files of madengine's presets, as it types them: a counter per line, and AMD's tool runs the
# program once per line. Here they share their passes, and on the software GPU one run.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
counted() { "$PYTHON" "$WS_SOURCE/tests/cmd/rocprofv3/counted.py" "$@" || fail "counted.py $*"; }
preset() {
	file=$1
	shift
	{ echo "# $file"; for name; do echo "pmc: $name"; done; } >"$file.txt"
}
preset compute_bound SQ_WAVES SQ_WAVE_CYCLES SQ_INSTS_VALU SQ_ACTIVE_INST_VALU SQ_INSTS_VALU_ADD_F32 \
	SQ_INSTS_VALU_MUL_F32 SQ_INSTS_VALU_FMA_F32 SQ_INSTS_VALU_TRANS_F32 SQ_INSTS_SALU SQ_INSTS_VMEM_RD \
	SQ_INSTS_VMEM_WR SQ_WAIT_INST_ANY
preset memory_bound L2CacheHit L2CacheMiss L2CacheHitRate TCP_TCC_READ_REQ_sum TCP_TCC_WRITE_REQ_sum \
	TCP_TCC_ATOMIC_REQ_sum TCC_HIT_sum TCC_MISS_sum TCC_EA_RDREQ_32B_sum TCC_EA_WRREQ_64B_sum \
	TCC_EA_RDREQ_LEVEL_sum TCC_EA_WRREQ_LEVEL_sum SQ_INSTS_SMEM SQ_LDS_BANK_CONFLICT
preset communication_bound TCC_EA_WRREQ_64B_sum TCC_EA_RDREQ_32B_sum TCC_ATOMIC_sum TCP_TCC_ATOMIC_REQ_sum \
	SQ_WAIT_INST_ANY SQ_WAVES TCP_TCC_READ_REQ_sum TCP_TCC_WRITE_REQ_sum
preset full_profile SQ_WAVES SQ_WAVE_CYCLES SQ_INSTS_VALU SQ_INSTS_SALU SQ_ACTIVE_INST_VALU L2CacheHit \
	TCC_HIT_sum TCC_MISS_sum TCP_TCC_READ_REQ_sum TCP_TCC_WRITE_REQ_sum TCC_EA_RDREQ_32B_sum \
	TCC_EA_WRREQ_64B_sum SQ_WAIT_INST_ANY SQ_WAIT_INST_VALU SQ_LDS_BANK_CONFLICT

# file, lines, values, passes at most
while read -r file lines values passes; do
	rm -f runs
	run rocprofv3 --hip-trace --kernel-trace -i "$file.txt" --output-format pftrace csv -d "$file" -o r -- \
		sh -c "echo ran >>runs; exec $vcopy -n 65536 -b 256"
	rc_is 0
	is "$(wc -l <runs)" 1 "$file: runs"
	is "$(find "$file" -name '*_results.pftrace' | wc -l)" "$values" "$file: timelines"
	: >all
	for n in $(seq "$lines"); do
		[ ! -e "$file/pmc_$n/r_counter_collection.csv" ] || counted values "$file/pmc_$n/r" >>all
	done
	is "$(wc -l <all)" "$values" "$file: values"
	run rocprofv3 --dry-run -i "$file.txt"
	n=$(sed -n 's/^\([0-9]*\) pass.*/\1/p' "$out")
	[ "${n:-99}" -le "$passes" ] || fail "$file needs $n passes, not $passes"
done <<END
compute_bound 12 12 2
memory_bound 14 14 2
communication_bound 8 8 1
full_profile 15 14 1
END
grep -q 'vecCopy SQ_WAVES 1024' all || fail "full_profile: SQ_WAVES"
# The one name that no GPU has is reported, and the rest is counted.
run rocprofv3 -i full_profile.txt -f csv -d again -o r -- "$vcopy" -n 65536 -b 256
rc_is 0
err_has "pmc_14: no counter 'SQ_WAIT_INST_VALU' on gfx90a"
