# Programs on a terminal that tests start: a tmux of their own.
#
#   on_screen 80x24 COMMAND        starts it; `keys`, `sees`, `lacks` follow
#   keys 3 Enter                   names of keys as tmux has them
#   sees 'text'                    waits until the screen has it
#
# To be read after lib.sh; `cleanup` ends the tmux.
need_program tmux
unset COLUMNS LINES TMUX
# ncurses keeps what it read about the terminal until the process ends.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
n_screens=0
tm() { tmux -S "$work/tmux$n_screens" -f /dev/null "$@"; }
cleanup() { tm kill-server 2>/dev/null || :; }

on_screen() {
	size=$1
	shift
	shown="$* ($size)"
	tm kill-server 2>/dev/null || :
	n_screens=$((n_screens + 1)) # one that is about to end would refuse the session
	tm new-session -d -x "${size%x*}" -y "${size#*x}" "$*; echo ended with \$?; sleep 60" || skip "tmux does not start"
}
keys() { for key; do tm send-keys "$key"; done; }
look() { tm capture-pane -p >"$out" 2>"$err"; }

# A program needs a moment to draw; one that never does fails after ten seconds.
sees() {
	for try in $(seq 200); do
		look && grep -qF -e "$1" "$out" && return
		sleep 0.05
	done
	fail "'$shown' does not show '$1'"
}
lacks() { ! grep -qF -e "$1" "$out" || fail "'$shown' shows '$1'"; }
row() { sed -n "$1p" "$out"; }
