#!/bin/sh
# Completion in fish, asked of fish itself.
. "$WS_SOURCE/tests/cmd/lib.sh"
. "$WS_SOURCE/tests/cmd/programs.sh"
need_program fish
scripts=$WS_BUILD/docs
HOME=$work
export HOME
cd "$work"
# fish 4 also offers what has the typed word inside
reply() {
	fish --no-config -c "source '$scripts/${1%% *}.fish'; complete -C '$1'" | cut -f1 | grep -e "^${1##* }" |
		LC_ALL=C sort | tr '\n' ' '
}
offers() { is "$(reply "$2")" "$1 " "completion of '$2'"; }

offers "analyze profile" "rocprof-compute "
offers "--roof-again --roof-only" "rocprof-compute profile --roof-"
offers "application auto kernel none" "rocprof-compute profile --replay "
for program in $programs; do
	for sub in - $(subs_of "$program"); do
		[ "$sub" = - ] && sub=
		reply "$program ${sub:+$sub }--" >reply.txt
		# shellcheck disable=SC2086 # no sub-command is no word
		for option in $(options_of "$program" $sub); do
			grep -q -E -e "(^| )$option[ =]" reply.txt || fail "$option is not offered for '$program $sub'"
		done
	done
done
