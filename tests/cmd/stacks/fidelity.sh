#!/bin/sh
# The counters of known kernels on MI300 and MI350, which need runtimes that know these GPUs: those of Debian 13 and
# sid, where scripts/stack has set them up; and those of the recorded vector copy, none of which is outside its band.
WAVESCOPE_STACKS=${WAVESCOPE_STACKS:-${XDG_CACHE_HOME:-$HOME/.cache}/wavescope/stacks}
export WAVESCOPE_STACKS
. "$WS_SOURCE/tests/cmd/lib.sh"
unset MALLOC_PERTURB_ # Debian 13's ROCr uses memory that it has freed while it shuts down
need_softgpu
[ -x "$WS_BUILD/lib/fidelity-kernels" ] || skip "fidelity-kernels is not built"
case $WS_BUILD/ in "$WS_SOURCE"/*) ;; *) skip "$WS_BUILD is not inside the source tree, which a stack shows" ;; esac
limit_s=280

# model, stack, least number of exact values, their targets in the catalogue, and a line for each new kind: every exact
# counter is equal, and each counter that is called exact is checked by a kernel
known() {
	[ -e "$WAVESCOPE_STACKS/$2/.complete" ] || {
		skip_part "$1 is not covered: 'scripts/stack $2' sets up a ROCm that knows it (docs/stacks.md)"
		return
	}
	run "$WS_SOURCE/scripts/stack" --build "$WS_BUILD" "$2" wavescope fidelity --gpu "$1" --kernels known
	rc_is 0
	! grep -q OFF "$out" || fail "an exact counter is off on $1"
	[ "$(grep -c ' exact$' "$out")" -gt "$3" ] || fail "too few exact counters on $1"
	# modelled ones of caches and occupancy are near, too
	awk '$NF == "modelled" { n++; far += $(NF - 1) + 0 > 5 || $(NF - 1) + 0 < -5 } END { exit n < 100 || far }' "$out" ||
		fail "modelled counters are far off on $1"
	awk -v target="$4" 'NR == FNR { if ($NF == "exact" && $(NF - 3) > 0) { sub(/_sum$/, "", $(NF - 4)); seen[$(NF - 4)] = 1 } next }
		/^[A-Z]/ && $3 == "exact" && ($2 == "all" || $2 ~ target) && $4 != "0:" && $1 !~ /GDS$/ && !seen[$1] { print $1 }' \
		"$out" "$WS_SOURCE/softgpu/counters/catalogue.txt" >"$work/unchecked"
	[ ! -s "$work/unchecked" ] || fail "exact counters of $1 that no kernel checks: $(tr '\n' ' ' <"$work/unchecked")"
	model=$1
	shift 4
	for line; do
		grep -E "$line" "$out" | grep -q ' exact$' || fail "no line '$line' on $model"
	done
}
known mi300x trixie 800 '^gfx(90a|942)[+]$' \
	'^mfma_32x32x16_fp8_bf8 +0 +SQ_INSTS_VALU_MFMA_MOPS_F8 +4096 +4096 ' \
	'^mfma_32x32x4_xf32 +0 +SQ_VALU_MFMA_BUSY_CYCLES +2048 +2048 '

# model, stack, recording: exact counters are equal, and modelled ones within the bands of docs/fidelity.md
recorded() {
	[ -e "$WAVESCOPE_STACKS/$2/.complete" ] || return 0
	mkdir -p "$work/recorded"
	unpack_recording "$3" "recorded/$3"
	run "$WS_SOURCE/scripts/stack" --build "$WS_BUILD" "$2" wavescope fidelity --gpu "$1" --kernels vcopy --recorded "$work/recorded"
	! grep -E 'OFF$|OUTSIDE$' "$out" || fail "counters of $1 are outside"
	rc_is 0
	grep -Eq '^exact: ([0-9]+) of \1 equal; modelled: [0-9]+ of 4[0-9][0-9] within 30 %$' "$out" || fail "not all of $1 was compared"
	grep -Eq '^  TA_ADDR_STALLED_BY_TC_CYCLES +it depends on ' "$out" || fail "$1 does not say why a counter is not supported"
}
recorded mi300x trixie MI300X_A1
recorded mi300a trixie MI300A_A1

# The memory side of L2 is called TCC_EA0_ there: each of the 128 channels has its value, as have all together.
if [ -e "$WAVESCOPE_STACKS/trixie/.complete" ]; then
	run "$WS_SOURCE/scripts/stack" --build "$WS_BUILD" trixie env WAVESCOPE_GPU=mi300x rocprofv3 \
		--pmc 'TCC_EA0_RDREQ[0]' 'TCC_EA0_RDREQ[127]' TCC_EA0_RDREQ_sum --kernel-include-regex '^scalar_mix$' \
		-f csv -d "$work" -o ea -- "$WS_BUILD/lib/fidelity-kernels" selftest
	rc_is 0
	for counter in '\[0\]' '\[127\]' _sum; do
		grep -q "\"TCC_EA0_RDREQ$counter\",[0-9]" "$work/ea_counter_collection.csv" || fail "no TCC_EA0_RDREQ$counter"
	done
fi

known mi350x sid 1100 '^gfx(90a[+]|942[+]|950)$' \
	'^mfma_scale_16x16x128_fp4 +0 +SQ_INSTS_VALU_MFMA_MOPS_F6F4 +8192 +8192 ' \
	'^lds_read_b64_tr_b16 +0 +SQ_INSTS_LDS_LOAD +10 +10 '
recorded mi350x sid MI350
