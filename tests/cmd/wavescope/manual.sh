#!/bin/sh
# Manual pages: every program has one, with every option that --help shows, and formatters accept it.
. "$WS_SOURCE/tests/cmd/lib.sh"
. "$WS_SOURCE/tests/cmd/programs.sh"
pages=$WS_BUILD/docs

need_program mandoc
need_program groff

# What a reader sees, without overstriking.
render() { mandoc -T ascii -O width=200 "$1" | sed 's/.\x08//g'; }

n_options=0
for program in $programs; do
	page=$pages/$program.1
	[ -s "$page" ] || fail "no manual page of $program"
	render "$page" >"$work/page"
	for sub in - $(subs_of "$program"); do
		[ "$sub" = - ] && sub=
		# The part of the page that is about this sub-command.
		heading=$(echo "$program${sub:+ $sub}" | tr '[:lower:]' '[:upper:]')
		[ -n "$sub" ] || heading=OPTIONS
		awk -v heading="$heading" '/^[A-Z]/ { on = $0 == heading } on' "$work/page" >"$work/part"
		[ -s "$work/part" ] || fail "$program.1 has no section $heading"
		for option in $(options_of "$program" $sub); do
			n_options=$((n_options + 1))
			grep -q -E -e "^ +(-., )?$option( |\$)" "$work/part" ||
				fail "$program.1 does not describe $option in $heading"
		done
	done
	grep -q "^SEE ALSO" "$work/page" || fail "$program.1 names no other page"
	run mandoc -T lint -W warning "$page"
	rc_is 0
	out_is_empty
	run groff -ww -man -T ascii -z "$page"
	rc_is 0
	err_is_empty
done
[ "$n_options" -gt 200 ] || fail "only $n_options options were found in --help"

# What roff would interpret is shown as it was written.
render "$pages/rocprofv3.1" >"$work/page"
grep -q "rocprofv3 --stats --kernel-trace -f csv -- ./vcopy" "$work/page" || fail "no example"
grep -q "'\[1-3\]'" "$work/page" || fail "no quotes"
