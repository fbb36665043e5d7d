#!/bin/sh
# rocprofv3-avail: help, and what is said to mistakes.
. "$WS_SOURCE/tests/cmd/lib.sh"

for words in "--help" "list --help" "info -h" "pmc-check --help"; do
	# shellcheck disable=SC2086
	run rocprofv3-avail $words
	rc_is 0
	out_has "usage: rocprofv3-avail"
	out_fits
done
run rocprofv3-avail lst
rc_is 2
err_is "rocprofv3-avail: unknown command 'lst': did you mean 'list'?"
run rocprofv3-avail list --pmcs
rc_is 2
err_has "--pmcs"
run rocprofv3-avail list --pmc maybe
rc_is 2
err_has "'maybe' is not yes or no"
run rocprofv3-avail list words
rc_is 2
err_has "unexpected argument 'words'"
run rocprofv3-avail -d x list
rc_is 2

for words in "list --spm" "list --spm-config" "info --spm"; do
	# shellcheck disable=SC2086
	run rocprofv3-avail $words
	rc_is 1
	err_has "streaming counters (SPM) are not supported"
done

need_softgpu
run rocprofv3-avail info --pmc SQ_WAVE
rc_is 1
err_is "rocprofv3-avail: no counter 'SQ_WAVE' on gfx90a: did you mean 'SQ_WAVES'?"
run rocprofv3-avail -d 4 list
rc_is 1
out_is_empty
err_is "Fatal error: Invalid device id : 4"
printf 'rocprofiler-sdk:\n  counters:\n  - name: A\n    definitions:\n    - architectures: [gfx90a]\n      expression: 1+\n' \
	>"$work/bad.yaml"
run rocprofv3-avail list -E "$work/bad.yaml"
rc_is 1
err_is "rocprofv3-avail: $work/bad.yaml:6: counter 'A': column 3: the expression ends where a value is expected"
run rocprofv3-avail list -E "$work/none.yaml"
rc_is 1
err_has "none.yaml"
WAVESCOPE_GPU=mi999 run rocprofv3-avail list
rc_is 2
err_has "mi999"
[ -e /dev/kfd ] || {
	WAVESCOPE_GPU=native run rocprofv3-avail list
	rc_is 1
	err_has "no AMD GPU in this machine"
}
