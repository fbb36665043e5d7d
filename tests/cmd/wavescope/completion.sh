#!/bin/sh
# Completion in bash: every option that --help shows, choices, and where a program begins.
. "$WS_SOURCE/tests/cmd/lib.sh"
. "$WS_SOURCE/tests/cmd/programs.sh"
need_program bash
scripts=$WS_BUILD/docs
cd "$work"
mkdir folder
: >file.txt

# What bash offers for the last of these words, in one line, sorted.
reply() {
	bash --norc --noprofile -c '
		set -u
		. "$1/$2.bash"
		function=$(complete -p "$2" | sed "s/.*-F \([^ ]*\) .*/\1/")
		shift
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
		"$function" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
		printf "%s\n" "${COMPREPLY[@]}"' - "$scripts" "$@" | sed "/^$/d" | LC_ALL=C sort | tr '\n' ' '
}
offers() {
	want=$1
	shift
	got=$(reply "$@") || fail "bash: $*"
	is "$got" "$want${want:+ }" "completion of '$*'"
}

offers "--kernel-exclude-regex --kernel-include-regex --kernel-iteration-range --kernel-rename --kernel-replay-beta-enabled --kernel-trace" \
	rocprofv3 --kernel-
offers "csv" rocprofv3 -f c
offers "json" rocprofv3 --output-format csv j
offers "json" rocprofv3 --output-format = j
offers "folder" rocprofv3 -d fo
offers "--stats" rocprofv3 --kernel-trace --sta
offers "" rocprof-compute profile --replay none --nonsense
offers "file.txt folder" rocprof-compute profile --replay none f
offers "file.txt" rocprofv3 -- ./app fi
offers "analyze profile" rocprof-compute ''
offers "analyze" rocprof-compute a
offers "--roof-again --roof-only" rocprof-compute profile --roof-
offers "--roofline-data-type" rocprof-compute analyze --roof
offers "analyze" rocprof-compute --config-dir profile a
offers "doctor" wavescope d
offers "--gpu --gpu-time" wavescope run --gpu
offers "file.txt" wavescope run --gpu mi210 ./app fi
offers "" rocprofv3 --nonsense

n_options=0
for program in $programs; do
	script=$scripts/$program.bash
	[ -s "$script" ] && bash -n "$script" || fail "$script"
	for sub in - $(subs_of "$program"); do
		[ "$sub" = - ] && sub=
		# shellcheck disable=SC2086 # no sub-command is no word
		reply "$program" $sub -- >"$work/reply.txt"
		for option in $(options_of "$program" $sub); do
			n_options=$((n_options + 1))
			grep -q -E -e "(^| )$option " "$work/reply.txt" ||
				fail "bash: $option is not offered for '$program $sub'"
		done
	done
done
[ "$n_options" -gt 200 ] || fail "only $n_options options were found in --help"
