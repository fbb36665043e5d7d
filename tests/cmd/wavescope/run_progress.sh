#!/bin/sh
# What takes long, and what does not move at all, is said: on a terminal in a line that goes away again, elsewhere
# once. The program's own output stays as it is.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_softgpu
stalls=$WS_BUILD/tests/cmd/stalls
[ -x "$stalls" ] || skip "the program stalls is not in this build (no hipcc?)"

# says REGEX...: each in one line, and nothing else. Beside other tests what takes moments may take so long that
# there is a line about it as well; it is none of those with 400 workgroups.
says() {
	for line; do
		is "$(grep -cE -e "$line" "$err")" 1 "lines '$line' on stderr of '$shown'"
	done
	awk '!/: [0-9]+ of [1-4] workgroups, /' "$err" >"$work/lines"
	is "$(wc -l <"$work/lines")" $# "lines on stderr of '$shown'"
}

# --- piped: one line per kernel, and no control characters ---
export WAVESCOPE_PROGRESS=0.2

run wavescope run -- "$stalls" heavy 0.8
rc_is 0
out_is "begins
ends"
says '^wavescope gpu: heavy_kernel\(unsigned int\*, unsigned int\): [0-9]+ of 400 workgroups, [0-9.]+ M wave-instructions/s, about [0-9.]+ s left$'
done_wgs=$(sed -n 's/.*): \([0-9]*\) of 400.*/\1/p' "$err")
[ "$done_wgs" -gt 0 ] && [ "$done_wgs" -lt 400 ] || fail "$done_wgs workgroups done"

# a kernel that waits for the host: where, and what each wave does
run wavescope run -- "$stalls" half 30 1
rc_is 0
out_is "got 9"
says "^wavescope gpu: poll_and_barrier\(unsigned int volatile\*, unsigned int\*\): no progress for [0-9]+(\.[0-9])? s, 0 of 1 workgroups done; in workgroup \(0, 0, 0\) 1 wave sleeping and polling, 3 waves at a barrier, at .*/stalls\.hip\.cpp:[0-9]+$"

# a queue that waits for a queue that waits: both
run wavescope run -- "$stalls" event 30 2
rc_is 0
out_is "got 9"
says '^wavescope gpu: no progress for [0-9]+(\.[0-9])? s on a queue of node 1 at packet [0-9]+: a barrier-AND waits for signal 0x[0-9a-f]+, which is 1 and not 0: packet [0-9]+ of another queue completes it$' \
	'^wavescope gpu: poll_flag\(unsigned int volatile\*, unsigned int\*\): no progress for [0-9]+(\.[0-9])? s, 0 of 1 workgroups done; in workgroup \(0, 0, 0\) 1 wave sleeping and polling, at .*/stalls\.hip\.cpp:[0-9]+$'

# a signal that nobody sets: its handle and value
run wavescope run -- "$stalls" barrier 30 1
rc_is 0
signal=$(sed -n 's/^signal //p' "$out")
out_is "signal $signal
went on"
says "^wavescope gpu: no progress for [0-9]+(\.[0-9])? s on a queue of node 1 at packet 0: a barrier-AND waits for signal $signal, which is 3 and not 0: no packet in any queue completes it, so the program has to set it$"

run wavescope run -- "$stalls" unwritten 30 1
rc_is 0
says '^wavescope gpu: no progress for [0-9]+(\.[0-9])? s on a queue of node 1 at packet 0: the packet was reserved, and the program never wrote its header$'

run wavescope run -- "$stalls" packet
rc_is 5
err_is "wavescope gpu: bad packet: header 0x0009 is not a packet type that the GPU executes
wavescope gpu:   packet 0 of a queue on node 1; the queue is stopped"

# --- silence: by default for what is quick, and on request ---
unset WAVESCOPE_PROGRESS
run wavescope run -- "$stalls" poll 0.4
rc_is 0
err_is_empty
WAVESCOPE_PROGRESS=off
export WAVESCOPE_PROGRESS
run wavescope run -- "$stalls" poll 0.4
rc_is 0
err_is_empty
WAVESCOPE_PROGRESS=soon
run wavescope run -- "$stalls" poll 0.1
rc_is 0
err_is "wavescope gpu: WAVESCOPE_PROGRESS: 'soon' is neither 'off' nor a number of seconds: ignored"

# --- a terminal: below the cursor, no colour as NO_COLOR asks, gone at the end ---
need_program script
WAVESCOPE_PROGRESS=0.2
TERM=screen
export TERM
esc=$(printf '\033')
on_terminal() {
	shown="$* (terminal)"
	timeout 60 script -qec "stty cols 80; $*" "$work/typescript" </dev/null >"$out" 2>&1 || rc=$?
}
on_terminal wavescope run -- "$stalls" heavy 0.8
grep -qF "${esc}[J${esc}D${esc}[A${esc}7${esc}[B" "$out" || fail "no line is drawn"
grep -qE "gpu: heavy_k[^:]*: [0-9]+ of 400 workgroups, [0-9.]+ M wave-inst/s, about [0-9.]+ s left${esc}8" "$out" ||
	fail "the line does not say how far it is"
! grep -qF "${esc}[2m" "$out" || fail "colours although NO_COLOR is set"
# the last thing that happens to the line is that it goes, before the program prints again
tr -d '\r' <"$out" | grep -qF "${esc}[Jends" || fail "the line is not erased"
# at most 79 columns wide
awk -v esc="$esc" '{ while (match($0, /gpu: [^\033]*/)) { if (RLENGTH > 79) exit 1; $0 = substr($0, RSTART + RLENGTH) } }' \
	"$out" || fail "the line is wider than the terminal"

on_terminal env WAVESCOPE_PROGRESS=off wavescope run -- "$stalls" heavy 0.6
! grep -qF "$esc" "$out" || fail "something is drawn although it is off"
on_terminal env TERM=dumb wavescope run -- "$stalls" heavy 0.6
! grep -qF "$esc" "$out" || fail "a dumb terminal is drawn on"

# the program exits while the line stands there
on_terminal wavescope run -- "$stalls" leave
tail -c 20 "$out" | grep -qF "${esc}[J" || fail "a line is left behind at exit"

# --- what a person sees ---
need_program tmux
screen() { tmux -S "$work/tmux" capture-pane -p; }
cleanup() { tmux -S "$work/tmux" kill-server 2>/dev/null; }
cat >"$work/session" <<END
printf 'begun: '
wavescope run -- "$stalls" heavy 0.8
echo after
sleep 60
END
tmux -S "$work/tmux" -f /dev/null new-session -d -x 80 -y 6 "yes x | head -9; sh $work/session" || skip "tmux does not start"
seen=
for i in $(seq 300); do
	screen >"$out" 2>/dev/null || break
	grep -q 'of 400 workgroups' "$out" && seen=yes
	grep -q '^after' "$out" && break
	sleep 0.1
done
[ "$seen" ] || fail "the line was never on the screen"
screen >"$out"
is "$(sed '/^$/d' "$out" | tail -4)" "$(printf 'x\nbegun: begins\nends\nafter')" "the screen at the end"
