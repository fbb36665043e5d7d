#!/bin/sh
# What is wrong with a request for counters is one sentence, before anything runs.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
need_sample reduction
# Nothing may run: the program would leave a file.
wrong() {
	text=$1
	shift
	run rocprofv3 "$@" -- sh -c 'echo ran >ran'
	[ "$rc" -ne 0 ] || fail "'$shown' was taken"
	err_has "$text"
	is "$(grep -c . "$err")" 1 "sentences"
	[ ! -e ran ] || fail "'$shown' ran the program"
	[ ! -e .rocprofv3 ] || fail "'$shown' left a folder"
}
wrong "no counter 'SQ_WAVE' on gfx90a: did you mean 'SQ_WAVES'?" --pmc SQ_WAVE
wrong "no counter 'FOO' on gfx90a" --pmc SQ_WAVES FOO GRBM_COUNT
wrong "TCC_HIT[99]" --pmc 'TCC_HIT[99]'
wrong "device" --pmc SQ_WAVES:device=x
wrong "on gfx90a, only on" --pmc SQ_INSTS_VALU_MFMA_F8
wrong "is not supported by the software GPU" --pmc TD_SPI_STALL
wrong "--replay" --replay kernels --pmc SQ_WAVES
wrong "--replay kernel and --replay-mode application" --replay kernel --replay-mode application --pmc SQ_WAVES
wrong "not a regular expression" --pmc SQ_WAVES --kernel-include-regex '('
wrong "range" --pmc SQ_WAVES --kernel-iteration-range '[3-1]'
wrong "missing.yaml" -E missing.yaml --pmc SQ_WAVES
printf 'rocprofiler-sdk:\n  counters:\n    - name: X\n      definitions:\n        - architectures: [gfx90a]\n          expression: reduce(SQ_WAVES,\n' >bad.yaml
wrong "bad.yaml" -E bad.yaml --pmc X
# A counter that the software GPU has no value for says so, and why.
none=$(awk '/^#/ { next } $1 == "block" { on = 1; next } on && ($2 == "all" || $2 ~ /gfx90a/) && $3 == "unsupported" { print $1; exit }' \
	"$WS_SOURCE/softgpu/counters/catalogue.txt")
[ -z "$none" ] || wrong "$none" --pmc "$none"
# A group that does not fit its blocks cannot be made to.
cat >groups.yaml <<END
jobs:
  - pmc_groups: [[GRBM_COUNT], [TCC_HIT, TCC_MISS, TCC_READ, TCC_WRITE, TCC_REQ]]
END
wrong "TCC" -i groups.yaml
cat >both.yaml <<END
jobs:
  - pmc_groups: [[GRBM_COUNT]]
    pmc: [SQ_WAVES]
END
wrong "Cannot specify both --pmc and (input file) pmc_groups" -i both.yaml
printf 'jobs:\n  - pmc: [[[\n' >broken.yaml
wrong "broken.yaml" -i broken.yaml
printf 'jobs:\n  - pmc: {a: 1}\n' >map.yaml
wrong "map.yaml" -i map.yaml
printf 'pmc: SQ_WAVES NOT_THERE\n' >one.txt
wrong "NOT_THERE" -i one.txt
printf 'pmc: NEITHER\npmc: NOR\n' >none.txt
run rocprofv3 -i none.txt -- sh -c 'echo ran >ran'
[ "$rc" -ne 0 ] && [ ! -e ran ] || fail "lines without any counter were run"

# Of several lines, one with a counter that is not here is left out.
printf 'pmc: SQ_WAVES\npmc: GRBM_COUNT NOT_THERE\n' >two.txt
run rocprofv3 -i two.txt -f csv -d two -o r -- "$vcopy" -n 65536 -b 256
rc_is 0
err_has "pmc_2: no counter 'NOT_THERE'"
[ -e two/pmc_1/r_counter_collection.csv ] && [ ! -e two/pmc_2 ] || fail "a line with a counter that is not here"

# A device that is not here is skipped, with a warning; the rest is counted.
run rocprofv3 --pmc SQ_WAVES:device=1 GRBM_COUNT -f csv -d absent -o r -- "$vcopy" -n 65536 -b 256
rc_is 0
err_has "'SQ_WAVES:device=1' is not counted on GPU 1: this machine has 1, numbered from 0"
is "$(grep -c 'is not counted on GPU 1' "$err")" 1 warnings
grep -q '"GRBM_COUNT"' absent/r_counter_collection.csv || fail "the other counter is missing"
grep -q SQ_WAVES absent/r_counter_collection.csv && fail "a counter of an absent GPU was counted"

# A program that does not do the same twice: told, and not mixed.
cat >odd.sh <<END
n=\$(cat n 2>/dev/null || echo 0)
echo \$((n + 1)) >n
[ \$n -eq 0 ] && exec "$WS_BUILD/samples/reduction"
exec "$vcopy" -n 65536 -b 256
END
run rocprofv3 --replay application --pmc TCC_HIT TCC_MISS TCC_READ TCC_WRITE TCC_REQ -f csv -d odd -o r -- sh odd.sh
rc_is 0
err_has "run 2 differs from the first"
is "$(sed 1d odd/r_counter_collection.csv | wc -l)" 48 "values of the first run alone"
run rocprofv3 --strict --pmc SQ_WAVES -f csv -d none -o r -- true
rc_is 3
err_has "requested, but never observed: counted dispatches"

# A driver library that counts for nobody: the program runs as ever, and a sentence says why.
mkdir -p tree/bin tree/lib
cp "$WS_BUILD/bin/wavescope" tree/bin/rocprofv3
for lib in "$WS_BUILD"/lib/lib*.so*; do
	ln -sf "$lib" tree/lib/
done
for lib in libhsakmt.so.1 libwavescope-kfd.so; do
	rm -f "tree/lib/$lib"
	[ ! -e "$WS_BUILD/lib/$lib" ] ||
		sed 's/softgpu_count_sets/softgpu_count_setz/g' "$WS_BUILD/lib/$lib" >"tree/lib/$lib"
done
touch tree/build.ninja
run tree/bin/rocprofv3 --pmc SQ_WAVES --kernel-trace -f csv -d mute -o r -- "$vcopy" -n 65536 -b 256
rc_is 0
err_has "counters: AMD's libhsa-amd-aqlprofile64.so.1 is not installed"
err_has "requested, but never observed: counted dispatches"
is "$(rows mute/r_kernel_trace.csv)" 1 "kernels, traced all the same"
