#!/bin/sh
# rocprof-compute analyze --tui, as a person sees it at 80x24 and 200x50.
. "$WS_SOURCE/tests/cmd/lib.sh"
. "$WS_SOURCE/tests/cmd/tmux.sh"
cd "$work"
unpack_recording MI200 mi200
cp -r "$WS_SOURCE/tests/cmd/compute/workloads/gfx90a" before
cp -r before after

# A name of 4 KB with what a terminal would obey.
"$PYTHON" - <<'PY'
import glob
for name in glob.glob("after/*.csv"):
    with open(name, "rb") as f:
        data = f.read()
    data = data.replace(b"gemm<float, 16>", b"gemm\x1b[2J\xe2\x80\xae\xff\xc3\xb6" + b"\xe4\xb8\xad" * 1400 + b"<float, 16>")
    with open(name, "wb") as f:
        f.write(data)
PY

# --- without a terminal: one line, and no control characters ---
run rocprof-compute analyze -p before --tui </dev/null
rc_is 1
out_is_empty
err_is "rocprof-compute: this needs a terminal, and stdin or stdout is none: without --tui, the same is printed as text"

# The terminal is checked before the workload is read, which may take long.
cp -r before broken
for file in broken/*.csv; do echo 'a,b,"' >"$file"; done
run rocprof-compute analyze -p broken --tui </dev/null
rc_is 1
err_has "this needs a terminal"
run env TERM=nonesuch script -qec "rocprof-compute analyze -p broken --tui" /dev/null
out_has "the terminal type 'nonesuch' is not known here"

# --- 80x24: every tab ---
on_screen 80x24 rocprof-compute analyze -p mi200 --tui
sees '1 Kernels  2 Findings  3 Tables  4 Memory  5 Roofline  6 Compare'
is "$(row 4)" '   0   100.0  52.32 us       3   17.44 us   16.32 us  vecCopy(double*, double*,…' "the row of the kernel"
keys 2
sees '1. Memory bandwidth is the limit [high]'
keys j j j Enter # evidence: a metric
sees '2.1.22 L2-Fabric Read BW'
sees 'Formula on gfx90a'
keys BSpace 4
sees '┌─ Instr Dispatch ─'
sees '…'
keys l l l l
sees '│ xGMI/PCIe    │'
keys 5
sees 'VALU-FP32 20942 GFLOP/s'
sees 'A  vecCopy(double*, double*, double*, int, int) [clone .kd]'
keys 6
sees 'start with -p BEFORE -p AFTER to compare'

# tables, a metric, its counter, and back
keys 3 / L D S Enter
sees '12 Local Data Share (LDS)'
keys n Enter
sees '> Table 12.1'
sees '│ 12.1.3      │ Bank Conflict Rate'
keys BSpace g / 2 . 1 Enter Enter
sees '> Table 2.1'
sees '│ 2.1.7       │ Active CUs'
lacks '├'
keys j Enter
sees '2.1.1 VALU IOPs (Giop/s)'
sees 'AVG(64 * (SQ_INSTS_VALU_INT32 + SQ_INSTS_VALU_INT64)'
keys / S Q _ I N S T S _ V A L U _ I N T 6 4 Enter n n Enter
sees '> Explain SQ_INSTS_VALU_INT64'
sees 'SQ_INSTS_VALU_INT64, a counter: 0.00 on average over 3 dispatches'
keys Escape / n o n e s u c h Enter
sees 'not found: nonesuch'
keys '?'
sees 'Backspace Esc  go back'
keys '?' q
sees 'ended with 0'

# --- the mouse: what a terminal sends for a button (0 left, 64 and 65 the wheel) at a column and row from 1 ---
button() { # NUMBER COLUMN ROW
	place=$(printf '%x %x' $(($2 + 32)) $(($3 + 32)))
	tm send-keys -H 1b 5b 4d $(printf %x $(($1 + 32))) $place 1b 5b 4d 23 $place # pressed, released
}
on_screen 80x24 rocprof-compute analyze -p before --tui
sees '6 Compare'
keys m
sees 'mouse: on'
button 0 18 2 # the second tab
sees '1. Some workgroups run much longer than others'
keys / A l s o Enter j Enter # a kernel that is listed with another one
sees 'kernel 1: copy(double'
keys a
button 0 3 2
sees 'median  kernel'
button 0 10 5 # the second kernel, and again
sees '2/2'
button 0 10 5
sees 'kernel 1: copy(double'
keys a 3
sees '1/75'
button 65 10 10
button 65 10 10
sees '7/75'
button 64 10 10
sees '4/75'
button 0 10 24 # nothing is there
sees '4/75'
keys m
sees 'mouse: off'
keys q
sees 'ended with 0'

# --- a resize is followed; the chart gets wider ---
on_screen 80x24 rocprof-compute analyze -p mi200 --tui
sees '5 Roofline'
keys 5
sees 'VALU-FP32'
narrow=$(grep -c '│' "$out")
tm resize-window -x 200 -y 50
for try in $(seq 100); do
	look
	[ "$(grep -c '│' "$out")" -gt $((narrow + 20)) ] && break
	sleep 0.05
done
[ "$(grep -c '│' "$out")" -gt $((narrow + 20)) ] || fail "the roofline stays small after a resize"
row 50 | grep -q '^ q quit' || fail "the last row is not at the bottom: '$(row 50)'"
tm resize-window -x 20 -y 4
sees 'q quit'
keys 1 2 3 4 G g 6 '?' q
sees 'ended with 0'

# --- 200x50: two workloads, foreign names, one kernel alone ---
on_screen 200x50 rocprof-compute analyze -p before -p after --tui
sees 'gemm<float, 16>(float const*, float*, int)'
keys 6
sees 'Comparison of B with A'
sees 'gemm\x1b[2J\xe2\x80\xae\xffö中'
sees '…'
"$PYTHON" "$WS_SOURCE/tests/cmd/foreign_text.py" shown "$out" || fail "the screen has more than text"
keys 1 s s
sees 'mean▼'
row 4 | grep -q 'copy(double' || fail "the kernel with the longest mean is not first"
keys r
sees 'mean▲'
row 4 | grep -q 'gemm' || fail "the order is not reversed"
keys j Enter
sees 'kernel 1: copy(double*, double*)'
keys 6
sees '(gfx90a, 2 dispatches)'
keys a
sees '(gfx90a, 5 dispatches)'
keys C-c
sees 'ended with 0'
