#!/bin/sh
# All counters of the GPU in one command line: one result, and the same one whichever way it is collected.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
need_sample scan
counted() { "$PYTHON" "$WS_SOURCE/tests/cmd/rocprofv3/counted.py" "$@" || fail "counted.py $*"; }

# The software GPU's own list says which there are.
all=$(awk '/^#/ { next } $1 == "block" { on = 1; next }
	on && ($2 == "all" || $2 ~ /gfx90a/) && $3 != "unsupported" { print $1 }' \
	"$WS_SOURCE/softgpu/counters/catalogue.txt")
n=$(echo "$all" | wc -l)
[ "$n" -gt 200 ] || fail "only $n counters"

run rocprofv3 --pmc $all -f csv -d kernel -o r -- "$vcopy" -n 65536 -b 256
rc_is 0
cp "$out" plain
is "$(counted values kernel/r | wc -l)" "$n" "counters in one result"
err_has "kernel replay: 1 dispatch ran"
err_has "saved and restored"
# The program does not notice: its output is that of a run without counting.
run wavescope run -- "$vcopy" -n 65536 -b 256
same_files "$out" plain "the program printed something else"

run rocprofv3 --replay application --pmc $all -f csv -d application -o r -- "$vcopy" -n 65536 -b 256
rc_is 0
err_has "passes: the program runs"
is "$(counted same kernel/r application/r)" "$n" "kernel and application replay"

# Passes behind the first one are like it and are not modelled: nobody can tell from the values.
WAVESCOPE_MODEL=always run rocprofv3 --pmc $all -f csv -d always -o r -- "$vcopy" -n 65536 -b 256
rc_is 0
is "$(counted same kernel/r always/r)" "$n" "modelled once and modelled in every pass"

# Shader engines that do the same are simulated together: what follows from instructions and addresses is the same.
exact="SQ_WAVES SQ_INSTS_VALU SQ_INSTS_SALU SQ_INSTS_SMEM SQ_INSTS_VMEM_RD SQ_INSTS_VMEM_WR SPI_CSN_WAVE TCP_TOTAL_ACCESSES
	TCP_TOTAL_READ TCP_TOTAL_WRITE TA_TOTAL_WAVEFRONTS TD_LOAD_WAVEFRONT TD_STORE_WAVEFRONT SQC_DCACHE_REQ"
run rocprofv3 --pmc $exact -f csv -d together -o r -- "$vcopy" -n 65536 -b 256
rc_is 0
WAVESCOPE_MODEL=full run rocprofv3 --pmc $exact -f csv -d full -o r -- "$vcopy" -n 65536 -b 256
rc_is 0
is "$(counted same together/r full/r)" "$(counted same together/r together/r)" "engines together and each for itself"
# They are simulated differently: what follows from time is not the same to the last digit.
WAVESCOPE_MODEL=full run rocprofv3 --pmc $all -f csv -d full_all -o r -- "$vcopy" -n 65536 -b 256
rc_is 0
counted values kernel/r >together.values
counted values full_all/r >full.values
! cmp -s together.values full.values || fail "WAVESCOPE_MODEL=full changes nothing"

# Several kernels that follow one another, some counters of every block, three ways.
some="SQ_WAVES SQ_INSTS_VALU SQ_INSTS_SALU SQ_INSTS_SMEM SQ_INSTS_LDS SQ_INSTS_VMEM_RD SQ_INSTS_VMEM_WR
	SQ_BUSY_CYCLES SQ_WAVE_CYCLES SQ_WAIT_ANY TCC_HIT TCC_MISS TCC_READ TCC_WRITE TCC_EA_RDREQ TCC_EA_WRREQ
	TCP_TOTAL_ACCESSES TCP_TCC_READ_REQ TA_BUFFER_WAVEFRONTS TD_TD_BUSY SPI_CSN_WAVE GRBM_COUNT
	CPC_CPC_STAT_BUSY L2CacheHit"
scan=$WS_BUILD/samples/scan
run rocprofv3 --pmc $some -f csv -d k2 -o r -- "$scan"
rc_is 0
run rocprofv3 --replay-mode application --pmc $some -f csv -d a2 -o r -- "$scan"
rc_is 0
[ "$(counted same k2/r a2/r)" -gt 200 ] || fail "too few values were compared"
# Multiplexed: every dispatch has one group, and there the same values.
cat >groups.yaml <<END
jobs:
  - pmc_groups:
      - [SQ_WAVES, SQ_INSTS_VALU, TCC_HIT, TCC_MISS, L2CacheHit, GRBM_COUNT]
      - [SQ_INSTS_LDS, TCP_TCC_READ_REQ, TD_TD_BUSY]
      - [SQ_WAVE_CYCLES, SPI_CSN_WAVE]
    output_format: [csv, json]
    output_file: r
END
run rocprofv3 -i groups.yaml -d m2 -- "$scan"
rc_is 0
[ "$(counted subset m2/r k2/r)" -gt 20 ] || fail "too few values were compared"
err_has "multiplexed:"
grep -q '"SQ_WAVES","exact, multiplexed: in [0-9]* of [0-9]* dispatches"' m2/r_counter_info.csv ||
	fail "nothing says that SQ_WAVES is multiplexed"
# AMD's rule: dispatch k has group k mod n.
counted values m2/r | awk '{ g["SQ_WAVES"] = 0; g["TD_TD_BUSY"] = 1; g["SPI_CSN_WAVE"] = 2 }
	$3 in g && ($1 - 1) % 3 != g[$3] { print; bad = 1 } END { exit bad }' || fail "the wrong group"

# What the plan says is what is done.
run rocprofv3 --dry-run --pmc $some
rc_is 0
passes=$(sed -n 's/^\([0-9]*\) passes.*/\1/p' "$out")
[ "${passes:-0}" -gt 1 ] || fail "no passes in the plan"
run rocprofv3 --dry-run --replay application --baseline 10 --pmc SQ_WAVE $some
rc_is 1
out_has "SQ_WAVE "
out_has "did you mean 'SQ_WAVES'?"
out_has "$passes passes, $passes runs of the application"
out_has "expected time: $((passes * 10)).0 s"
run rocprofv3 --replay application --pmc $some -f csv -d a3 -o r -- "$vcopy" -n 65536 -b 256
err_has "the counters need $passes passes: the program runs $passes times"
# Somebody who watches sees which run it is, and how long the rest may take.
if part_needs script; then
	script -qec "rocprofv3 --replay application --pmc $(echo $some) -f csv -d tty -o r -- $vcopy -n 65536 -b 256" \
		/dev/null >watched </dev/null || fail "on a terminal: ended with $?"
	grep -q "run 1 of $passes" watched || fail "no first run on the terminal"
	grep -q "run $passes of $passes, about [0-9]* s left" watched || fail "no time left on the terminal"
fi
