#!/bin/sh
# Completion in zsh, as an interactive one lists it.
. "$WS_SOURCE/tests/cmd/lib.sh"
. "$WS_SOURCE/tests/cmd/programs.sh"
need_program zsh
scripts=$WS_BUILD/docs
reply() {
	zsh -f "$WS_SOURCE/tests/cmd/wavescope/completion.zsh" "$scripts" "$work" "$1" | LC_ALL=C sort | tr '\n' ' '
}
offers() { is "$(reply "$2")" "$1 " "completion of '$2'"; }

offers "analyze profile" "rocprof-compute "
offers "--roof-again --roof-only" "rocprof-compute profile --roof-"
offers "application auto kernel none" "rocprof-compute profile --replay "
for program in $programs; do
	run zsh -n "$scripts/_$program"
	rc_is 0
	err_is_empty
	for sub in - $(subs_of "$program"); do
		[ "$sub" = - ] && sub=
		function=_$(echo "$program${sub:+_$sub}" | tr - _)
		sed -n "/^$function()/,/^}/p" "$scripts/_$program" >"$work/function"
		# shellcheck disable=SC2086 # no sub-command is no word
		for option in $(options_of "$program" $sub); do
			grep -q -e "'[*]*$option[=[]" "$work/function" || fail "$option is not in $function"
		done
	done
done
