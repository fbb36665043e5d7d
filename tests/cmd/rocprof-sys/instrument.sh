#!/bin/sh
# rocprof-sys-instrument: options, lists, messages, copies, and regions in what is written.
. "$WS_SOURCE/tests/cmd/lib.sh"
HOME=$work
ROCPROFSYS_USE_ROCM=false ROCPROFSYS_USE_PROCESS_SAMPLING=false ROCPROFSYS_TIME_OUTPUT=false ROCPROFSYS_USE_PID=false
export HOME ROCPROFSYS_USE_ROCM ROCPROFSYS_USE_PROCESS_SAMPLING ROCPROFSYS_TIME_OUTPUT ROCPROFSYS_USE_PID
cd "$work"
command -v cc >/dev/null || { echo "SKIP: no C compiler"; exit 77; }

run rocprof-sys-instrument --help
rc_is 0
for group in DEBUG MODE LIBRARY "SYMBOL SELECTION" RUNTIME GRANULARITY DYNINST; do
	out_has "[$group OPTIONS]"
done

cat >app.c <<'END'
#include <stdio.h>
#define KEPT __attribute__((noinline, noclone))
KEPT static int small(int n) { volatile int m = n; return m + 1; }
KEPT int visible(int n) { return small(n) * 2 + small(n + 1); }
int main(void)
{
	int sum = 0;
	for (int i = 0; i < 10; i++)
		sum += visible(i);
	printf("%d\n", sum);
	return 5;
}
END
cc -O2 -g app.c -o app

# The default minimum leaves nothing; the reasons are in the list, and the program runs.
run rocprof-sys-instrument -- ./app
rc_is 5
out_has 175
err_has "0 of"
err_has "fewer than 1024 instructions"
grep -q 'visible .*fewer instructions than --min-instructions' rocprofsys-app-output/instrumentation/excluded.txt ||
	fail "excluded.txt has no reason"

# With a profile: calls by name, count and depth.
ROCPROFSYS_TRACE=true ROCPROFSYS_PROFILE=true run rocprof-sys-instrument -i 1 -- ./app
rc_is 5
out_has 175
grep -Eq '\|_visible +\| +10 \| +2 ' rocprofsys-app-output/wall_clock.txt || fail "no 10 calls of visible: $(cat rocprofsys-app-output/wall_clock.txt)"
grep -Eq '\|_small +\| +20 \| +3 ' rocprofsys-app-output/wall_clock.txt || fail "no 20 calls of small"
grep -aq visible rocprofsys-app-output/perfetto-trace.proto || fail "the trace has no visible"

# simulate WORDS...: which functions are instrumented
simulate() {
	run rocprof-sys-instrument -v -1 --simulate --print-dir lists --print-instrumented functions "$@" -- ./app
	rc_is 0
	instrumented=$(sed '/^\[/d' "$out" | sort | tr '\n' ' ')
}
is() { [ "$instrumented" = "$1" ] || fail "instrumented: '$instrumented' instead of '$1'"; }
simulate -i 1; is "main small visible "
simulate -i 1 -E '^small$'; is "main visible "
simulate -I visible; is "visible "
simulate -i 1 -R 'sma' 'mai'; is "main small "
simulate -i 1 --linkage local; is "small "
simulate -i 1 --linkage global --visibility default; is "main visible "
simulate -MI app; is "main small visible "
simulate -i 1 -ME app; is ""
simulate -i 1 -MR nothing; is ""
simulate -r 1; is "main small visible "
simulate -r 100000; is ""
simulate --all-functions; is "main small visible "
simulate -i 1 --label file line --print-format txt json xml --log-file log.txt; is "main small visible "
grep -q '\[app\] \[visible\] instrumented' log.txt || fail "the log lacks a function"
for list in available instrumented excluded overlapping; do
	for format in txt json xml; do
		[ -s "lists/$list.$format" ] || fail "no $list.$format"
	done
	python3 -c "import json, sys, xml.dom.minidom as x
rows = json.load(open('lists/$list.json'))['rocprofsys']['$list']
assert len(x.parse('lists/$list.xml').getElementsByTagName('value')) == len(rows)
assert '$list' != 'instrumented' or sorted(r['function'] for r in rows) == ['main', 'small', 'visible'], rows" ||
		fail "$list"
done

# A copy, started with rocprof-sys-run. The original is as it was.
before=$(cksum <app)
run rocprof-sys-instrument -i 1 -o copy -- ./app
rc_is 0
[ "$(cksum <app)" = "$before" ] || fail "the program was changed"
run rocprof-sys-instrument -i 1 -o copy -- ./app
rc_is 1
err_has "exists: --force replaces it"
run ./copy
rc_is 5
ROCPROFSYS_PROFILE=true run rocprof-sys-run -- ./copy
rc_is 5
grep -Eq '\|_visible +\| +10 ' rocprofsys-copy-output/wall_clock.txt || fail "the copy was not instrumented"

# What keeps functions from being instrumented does not keep the program from running.
if [ -z "$WS_SANITIZED" ]; then # a sanitizer needs that space itself
	run sh -c 'ulimit -v 8000000; exec rocprof-sys-run -- ./copy'
	rc_is 5
	out_has 175
	err_has "43 TiB of address space cannot be reserved"
fi
cp copy changed
cp copy.instrument changed.instrument
sed -i 's/\/copy/\/chang/' changed.instrument # another length: damaged
run rocprof-sys-run -- ./changed
rc_is 5
err_has "the plan is damaged"
sed 's/\* 2/* 3/' app.c >other.c
cc -O2 -g -fcf-protection=full other.c -o other
cat other >copy # the same file with another program in it
ROCPROFSYS_PROFILE=true run rocprof-sys-run -- ./copy
rc_is 5
out_has 230
err_has "were changed since the analysis"

ROCPROFSYS_PROFILE=true run rocprof-sys-instrument -i 1 --label file line -- ./app
grep -Eq '_visible \[.*app.c:4\]' rocprofsys-app-output/wall_clock.txt || fail "no label: $(cat rocprofsys-app-output/wall_clock.txt)"

# Mistakes.
run rocprof-sys-instrument -p 1
rc_is 1
err_has "a running process cannot be instrumented"
run rocprof-sys-instrument -i x -- ./app
rc_is 2
err_has "'x' is not a whole number"
run rocprof-sys-instrument -E '(' -- ./app
rc_is 2
err_has "--function-exclude"
printf '#!/bin/sh\n' >script
chmod +x script
run rocprof-sys-instrument -- ./script
rc_is 1
err_has "start its interpreter"
run rocprof-sys-instrument -- ./missing
rc_is 127
for kind in -static -static-pie; do
	cc -O2 $kind app.c -o static 2>/dev/null || continue
	run rocprof-sys-instrument -- ./static
	rc_is 1
	out_is_empty
	err_has "statically linked"
done
run rocprof-sys-instrument --batch-size 5 --simulate -- ./app
rc_is 0
err_has "option '--batch-size' has no effect"
