#!/bin/sh
# The counters of known kernels are what they have to be, and a recording that differs is noticed. Every counter
# that was recorded on an MI200 and an MI100 (tests/recorded) is compared, and docs/fidelity.md publishes the result.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_softgpu
[ -x "$WS_BUILD/lib/fidelity-kernels" ] || skip "fidelity-kernels is not built"

# A build tree whose kernels run once per GPU: later runs get what the first one printed.
mkdir -p "$work/tree/bin" "$work/tree/lib" "$work/printed"
cp "$WS_BUILD/bin/wavescope" "$work/tree/bin/"
ln -s "$WS_BUILD"/lib/lib*.so* "$work/tree/lib/"
touch "$work/tree/build.ninja"
cat >"$work/tree/lib/fidelity-kernels" <<X
#!/bin/sh
printed=$work/printed/\$WAVESCOPE_GPU-\$1
[ -e "\$printed" ] || {
	"$WS_BUILD/lib/fidelity-kernels" "\$@" >"\$printed.part" || exit
	mv "\$printed.part" "\$printed"
}
exec cat "\$printed"
X
chmod +x "$work/tree/lib/fidelity-kernels"
PATH=$work/tree/bin:$PATH
limit_s=280 # 30 s on an idle machine, all in all

run wavescope fidelity --gpu mi210
rc_is 0
out_has 'mi210 against MI200'
# one of each family: degrees of conflicts, classes, occupancy (waves and the launcher's counters)
grep -Eq '^lds conflicts 31 +0 +SQ_LDS_BANK_CONFLICT +600 +600 +\+0.0% +exact$' "$out" || fail "no 31 conflicts"
grep -Eq '^mfma_16x16x4f64 +0 +SQ_INSTS_VALU_MFMA_MOPS_F64 +256 +256 +\+0.0% +exact$' "$out" || fail "no MFMA F64"
grep -Eq '^rcp_f32 +0 +SQ_INSTS_VALU_TRANS_F32 +256 +256 .*exact$' "$out" || fail "no TRANS_F32"
grep -Eq '^read random lines +0 +TCP_TCC_READ_REQ_sum +16384 +16384 ' "$out" || fail "no random lines"
grep -Eq '^scratch +0 +TA_BUFFER_WRITE_WAVEFRONTS_sum +80 +80 ' "$out" || fail "no scratch"
# AMD's tutorial on vector memory: a generic store to LDS is one instruction of both; docs/fidelity.md
grep -Eq '^flat stores to LDS +0 +SQ_INSTS_LDS +10 +10 .*exact$' "$out" || fail "no flat store to LDS"
grep -Eq '^flat atomics in both +0 +TA_FLAT_ATOMIC_WAVEFRONTS_sum +10 +10 .*exact$' "$out" || fail "no mixed flat atomics"
# AMD's tutorial on Infinity Fabric: requests by kind of memory, on a machine whose two GPUs are linked
grep -E '^(read|write|atomic) (fine-grained )?(HBM|host|peer) ' "$out" > "$work/fabric"
[ "$(wc -l < "$work/fabric")" -eq 90 ] || fail "not every kind of memory was streamed"
grep -v '% stalled' "$work/fabric" | grep -v ' +0.0%  modelled$' && fail "requests are off"
awk '/^read (fine-grained )?host .*stalled by PCIe/ { n++; bad += $(NF-2) < 80 || $(NF-2) > 95 }
	/^read fine-grained peer .*stalled by xGMI/ { n++; bad += $(NF-2) < 10 || $(NF-2) > 30 }
	END { exit n != 3 || bad }' "$work/fabric" || fail "links stall L2 more or less than published"
# the end of a kernel writes L2 back where its packet says so, and not because it is the first one
grep -Eq '^first write +0 +TCC_EA_WRREQ_sum +0 +0 ' "$out" || fail "a first dispatch is written back"
grep -Eq '^write, system scope +0 +TCC_EA_WRREQ_sum +4096 +4096 ' "$out" || fail "a system release does not write back"
grep -Eq '^skipped +0 +SQ_INSTS_VSKIPPED +24 +24 .*exact$' "$out" || fail "no skipped instructions"
grep -Eq '^waves of two dimensions +0 +SQ_WAVES_LT_16 +1 +1 .*exact$' "$out" || fail "no waves of two dimensions"
for limit in 'wave slots' VGPRs SGPRs LDS barriers scratch; do
	grep -q "^limited by $limit .*waves per CU" "$out" || fail "nothing is limited by $limit"
done
grep '^limited by VGPRs .*SPI_RA_VGPR_SIMD_FULL_CSN' "$out" | awk '$6 == 0 || $7 == 0 { exit 1 }' || fail "the VGPR limit is not counted"
grep '^limited by scratch .*SPI_RA_TMP_STALL_CSN' "$out" | awk '$7 < 0.9 * $6 || $7 > 1.1 * $6 { exit 1 }' || fail "the scratch limit is not counted"
grep '^limited by VGPRs .*SPI_RA_LDS_CU_FULL_CSN' "$out" | awk '$7 != 0 { exit 1 }' || fail "LDS does not limit it"
[ "$(grep -c ' modelled$' "$out")" -gt 150 ] || fail "too few modelled counters"
[ "$(grep -c ' exact$' "$out")" -gt 600 ] || fail "too few exact counters"
grep -Eq '^vcopy +2 +SQ_INSTS_VALU +163840 +163840 +\+0.0% +exact$' "$out" || fail "no exact SQ_INSTS_VALU"
grep -q OFF "$out" && fail "an exact counter is off"
# every counter of gfx90a that is called exact has a kernel here that makes it something else than 0, unless it cannot be
awk 'NR == FNR { if (!/^vcopy/ && $NF == "exact" && $(NF - 3) > 0) { sub(/_sum$/, "", $(NF - 4)); seen[$(NF - 4)] = 1 } next }
	/^[A-Z]/ && $3 == "exact" && $2 !~ /^gfx9(08|42.|50)$/ && $4 != "0:" && !seen[$1] { print $1 }' \
	"$out" "$WS_SOURCE/softgpu/counters/catalogue.txt" > "$work/unchecked"
[ -s "$work/unchecked" ] && fail "exact counters that no kernel checks: $(tr '\n' ' ' < "$work/unchecked")"

run wavescope fidelity --gpu mi50
rc_is 2
err_has "no recordings of 'mi50'"

run wavescope fidelity --kernels all
rc_is 2
err_has "no kernels 'all': use known, fabric or vcopy"

run wavescope fidelity --recorded "$work/nowhere"
rc_is 1
err_has "no recordings in '$work/nowhere/MI200'"

# a recording that says something else is noticed
mkdir -p "$work/rec/MI200"
printf 'Kernel_Name,SQ_WAVES,TCC_HIT_sum\n"a, b",1,2.0\n"a, b",16384,2.0\n"a, b",16384,2.0\n' > "$work/rec/MI200/pmc_perf.csv"
run wavescope fidelity --gpu mi210 --kernels vcopy --recorded "$work/rec"
rc_is 1
grep -Eq '^vcopy +0 +SQ_WAVES +1 +16384 .*OFF$' "$out" || fail "a wrong exact counter is not reported"
grep -Eq '^vcopy +1 +SQ_WAVES +16384 +16384 +\+0.0% +exact$' "$out" || fail "the second row was not read"
grep -Eq '^vcopy +1 +TCC_HIT +2 +[0-9]+ .* modelled  OUTSIDE$' "$out" || fail "a modelled counter outside its band is not reported"

# both GPUs against all that was recorded, as docs/fidelity.md has it
mkdir "$work/recorded"
unpack_recording MI200 recorded/MI200
unpack_recording MI100 recorded/MI100
run wavescope fidelity --recorded "$work/recorded" --markdown
rc_is 0
err_is_empty
out_has '| kernel | mi210 exact, equal | modelled | mi100 exact, equal | modelled |'
out_has '| lds conflicts | 96 of 96 | - | 96 of 96 | - |'
grep -Eq '^\| duration_ns \|( [0-9]+ \([+-][0-9.]+ %\) \|){6}$' "$out" || fail "no durations"
grep -v '^ *$' "$out" >"$work/lines"
[ "$(wc -l <"$work/lines")" -gt 250 ] || fail "too few lines"
# -x: whole lines; what is left is printed here and not published
grep -vxF -f "$WS_SOURCE/docs/fidelity.md" "$work/lines" >"$work/unpublished" || :
# The table is that of Debian 12. Elsewhere the runtime gives buffers, and the linker code, other addresses, which moves
# what depends on caches a little: numbers, apart from differences in parentheses, are as published within a tenth.
case $(readlink -f "$(ldd "$WS_BUILD/samples/vcopy" | sed -n 's/.*libhsa-runtime64.so.1 => \([^ ]*\).*/\1/p')") in
*.so.1.5.*) ;;
*)
	awk 'function numbers(line, into) { gsub(/\([^)]*\)/, "", line); return split(line, into, /[^0-9.]+/) }
		function key(line) {
			if (line ~ /^\|/) { split(line, cells, "|"); return cells[2] }
			gsub(/[0-9.]+/, "", line); return line
		}
		NR == FNR { published[key($0)] = $0; next }
		{
			n = numbers($0, got); same = n == numbers(published[key($0)], want)
			for (i = 1; same && i <= n; i++) same = got[i] + 0 <= 1.1 * want[i] && got[i] + 0 >= 0.9 * want[i]
			if (!same) print
		}' "$WS_SOURCE/docs/fidelity.md" "$work/unpublished" >"$work/far"
	mv "$work/far" "$work/unpublished"
	;;
esac
[ ! -s "$work/unpublished" ] || {
	head -20 "$work/unpublished"
	fail "docs/fidelity.md has other values"
}
