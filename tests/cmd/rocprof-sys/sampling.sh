#!/bin/sh
# Call stacks and metrics from the command line to the files: shares, rates, windows, threads, Python.
. "$WS_SOURCE/tests/cmd/lib.sh"
for lib in libwavescope-collector.so libwavescope-sample.so; do
	[ -e "$WS_BUILD/lib/$lib" ] || skip "$lib is not in this build"
done
HOME=$work
export HOME
cd "$work"
unset ROCPROFSYS_CONFIG_FILE
cat >burn.c <<'END'
#include <pthread.h>
#include <time.h>
static volatile double x;
static void spend(double s)
{
	struct timespec now;
	double end;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	end = now.tv_sec + now.tv_nsec / 1e9 + s;
	do {
		for (int i = 0; i < 20000; i++)
			x += i * 0.5;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while (now.tv_sec + now.tv_nsec / 1e9 < end);
}
__attribute__((noinline)) void first(void) { spend(0.6); x++; }
__attribute__((noinline)) void second(void) { spend(0.2); x++; }
static void *other(void *arg) { first(); return arg; }
int main(int argc, char **argv)
{
	pthread_t thread;
	if (argc == 1)
		pthread_create(&thread, 0, other, 0);
	first();
	second();
	if (argc == 1)
		pthread_join(thread, 0);
	return 0;
}
END
need_program cc
cc -g -O1 -o burn burn.c -lpthread || skip "cc cannot compile a program with threads"

# As typed: a file of settings, no '--'.
printf 'sampling_freq = 200\nsampling_delay = 0.001\nprofile = on\ntime_output = off\nuse_pid = off\nuse_rocm = off\n' \
	>my.cfg
echo 'use_rocpd = on' >>my.cfg
run rocprof-sys-sample -c my.cfg ./burn
rc_is 0
# The lines at the end: two threads that computed for 0.8 s and 0.6 s.
pid=$(sed -n 's|.* rocprof-sys/process/\([0-9]*\) : .*|\1|p' "$err")
number='[0-9]*\.[0-9]*'
grep -q "rocprof-sys/process/$pid : $number sec wall_clock, $number MB peak_rss, $number MB page_rss, $number sec cpu_clock, $number % cpu_util \[laps: 1\]" \
	"$err" || fail "no summary of the process"
cpu() { sed -n "s|.*/thread/$1 : $number sec wall_clock, \($number\) sec thread_cpu_clock, $number % thread_cpu_util, $number MB peak_rss \[laps: 1\]|\1|p" "$err"; }
awk -v one="$(cpu 0)" -v two="$(cpu 1)" 'BEGIN { exit !(one > 0.79 && one < 0.95 && two > 0.59 && two < 0.75) }' ||
	fail "CPU times of the threads: $(cpu 0) $(cpu 1)"
cd rocprofsys-burn-output
for name in perfetto-trace.proto sampling_percent.txt sampling_wall_clock.txt sampling_cpu_clock.txt trip_count.txt \
	sampling_cpu_clock.json flamegraph.html; do
	[ -s $name ] || fail "no $name: $(ls)"
done
# first() takes 0.6 s of both threads, second() 0.2 s of the main thread.
"$PYTHON" - <<'END' || fail "shares of functions"
import json
rows = json.load(open("sampling_cpu_clock.json"))["timemory"]["sampling_cpu_clock"]["ranks"][0]["graph"]
def of(main, name):
    return sum(r["stats"]["sum"] for r in rows
               if r["prefix"].startswith("|0>>>") == main and r["prefix"].split("|_")[-1].split(">>> ")[-1] == name)
# Seconds of CPU time, up to the last sample of a thread.
one, two, other = of(True, "first"), of(True, "second"), of(False, "first")
assert 0.5 <= one <= 0.7 and 0.1 <= two <= 0.3 and 0.5 <= other <= 0.7, (one, two, other)
assert of(False, "second") == 0
# The database has the same samples, with their lines.
import sqlite3
db = sqlite3.connect("rocpd.db")
trips = json.load(open("trip_count.json"))["timemory"]["trip_count"]["ranks"][0]["graph"]
for name in ("main", "first", "second"):
    laps = sum(r["entry"]["laps"] for r in trips if r["prefix"].split("|_")[-1].split(">>> ")[-1] == name)
    stored = db.execute("SELECT COUNT(*) FROM call_stack_samples WHERE name = ?", (name,)).fetchone()[0]
    assert laps == stored > 0, (name, laps, stored)
assert db.execute("SELECT DISTINCT file LIKE '%/burn.c', line > 0 FROM call_stack_samples WHERE name = 'first'"
                  ).fetchall() == [(1, 1)]
used = db.execute("SELECT SUM(value) FROM metrics WHERE name = 'Thread CPU time [0] (S)'").fetchone()[0]
assert 0.6 <= used <= 1, used
END
# Threads are numbered in the order of their creation; those of the profiler have no number.
is "$(sed -n 's/^| |\([0-9]*\)>>>.*/\1/p' sampling_cpu_clock.txt | sort -u | tr '\n' ' ')" "0 1 " "thread numbers"
cd ..

# One thread, by its number; and the wall clock.
run rocprof-sys-run -P -o only --time-output off --use-pid off -E rocm --sample-realtime 100 0.01 0 -- ./burn
rc_is 0
grep -q '|0>>>' only/sampling_wall_clock.txt || fail "no samples of thread 0"
! grep -q '|[1-9]>>>' only/sampling_wall_clock.txt || fail "samples of a thread that was not selected"
# No longer than requested.
run rocprof-sys-run -P -o short --time-output off --use-pid off -E rocm -f 100 --sampling-wait 0.01 \
	--sampling-duration 0.2 -- ./burn
laps=$("$PYTHON" -c 'import json
rows = json.load(open("short/trip_count.json"))["timemory"]["trip_count"]["ranks"][0]["graph"]
print(sum(r["entry"]["laps"] for r in rows if r["depth"] == 0))')
# A busy machine gives the threads little of the 0.2 s; without the limit it would be some 140 samples.
[ "$laps" -ge 1 ] && [ "$laps" -le 50 ] || fail "$laps samples in 0.2 s of 2 threads at 100 Hz"
# Not at all.
run rocprof-sys-run -P -o none --time-output off --use-pid off --use-sampling off -H -- ./burn
rc_is 0
[ ! -e none/sampling_wall_clock.txt ] || fail "samples, though sampling was off"
err_has "    metrics "
err_lacks "call-stack samples"
# Another process than the first that has metrics of its own has files; one that was short has none.
run rocprof-sys-run -P -o metrics --time-output off --use-sampling off -H -E rocm --process-freq 1000 -- \
	sh -c 'sleep 1; sleep 0.01; true'
rc_is 0
is "$(ls metrics/metadata-* | wc -l | tr -d ' ')" 2 "processes with metrics"
# The message that AMD's tests look for; a flame graph beside the trace if it is requested.
ROCPROFSYS_FLAMEGRAPH_OUTPUT=on run rocprof-sys-sample -v 1 -f 50 -E rocm -T -o flame -- ./burn
is "$(ls flame/*/ | sed 's/-[0-9]*\./-PID./' | tr '\n' ' ')" \
	"flamegraph-PID.html functions-PID.json metadata-PID.json perfetto-trace-PID.proto sampling_cpu_clock-PID.folded " \
	"files with a flame graph"
grep -q 'first;spend [0-9]*$' flame/*/sampling_cpu_clock-*.folded || fail "no folded stacks beside a trace"
err_has "Sampler for thread 0 will be triggered 50.0x per second of CPU-time"
# The timeline as a page, whose call trees are also of samples.
run rocprof-sys-run --html-output --trace off --profile off --use-sampling on -f 100 -E rocm -o page --time-output off --use-pid off -- ./burn alone
rc_is 0
err_has "    call-stack samples "
is "$(ls page | tr '\n' ' ')" "functions.json metadata.json timeline.html " "files of HTML_OUTPUT"
if part_needs chromium; then
	run "$PYTHON" -B "$WS_SOURCE/tests/pages/samples_page.py" page/timeline.html
	cat "$out"
	rc_is 0
fi

# A script that looks around and then becomes the program: files of the program only.
cat >shim <<'END'
#!/bin/sh
for i in 1 2 3; do true | cat; done
exec env A=b "$@"
END
chmod +x shim
rm -r rocprofsys-*
run rocprof-sys-sample -f 100 --sampling-wait 0.05 ./shim ./burn
rc_is 0
is "$(ls -d rocprofsys-*)" rocprofsys-burn-output "folders of a script that becomes a program"
is "$(ls rocprofsys-burn-output/*/metadata-* | wc -l | tr -d ' ')" 1 "processes with files"

# A forked child begins with the fork, a second after its parent.
cat >forks.py <<'END'
import os, sys, time
time.sleep(1 if len(sys.argv) < 2 else 0)
child = os.fork()
end = time.process_time() + 0.2
while time.process_time() < end:
    pass
if child:
    os.waitpid(child, 0)
END
interpreter=$("$PYTHON" -c 'import sys; print(sys.executable)') # not a script that starts it
run rocprof-sys-sample -f 200 --sampling-wait 0 -E rocm -P -- "$interpreter" forks.py
rc_is 0
grep -q '^\[rocprof-sys\]\[[0-9]*\] fork() called on PID [0-9]*: its child [0-9]* is recorded, too$' "$err" || fail "no notice of the fork"
awk '/process\/[0-9]* : .* sec wall_clock/ { sub(/.* : /, ""); if (!n++ || $1 > most) most = $1; if (n == 1 || $1 < least) least = $1 }
	END { exit !(n == 2 && most - least > 0.95) }' "$err" || fail "times of the two processes: $(grep 'sec wall_clock' "$err")"

ROCPROFSYS_FOLLOW_CHILDREN=off run rocprof-sys-sample -f 200 --sampling-wait 0 -E rocm -P -o alone -- "$interpreter" forks.py at-once
rc_is 0
is "$(grep -c 'fork() called on PID [0-9]*: its child is not recorded' "$err")" 1 "notices of a child that is not recorded"

# Python functions in their place among the frames of the interpreter.
cat >train.py <<'END'
import time
def forward(n):
    return sum(i * i for i in range(n))
def step():
    for _ in range(20):
        forward(2000)
end = time.process_time() + 1
while time.process_time() < end:
    step()
END
run rocprof-sys-run --profile --trace --sampling-wait 0.01 -- "$PYTHON" train.py
rc_is 0
grep -h -q '|_step' rocprofsys-python*-output/*/sampling_cpu_clock-*.txt ||
	skip_part "Python frames are not recorded: $("$PYTHON" --version 2>&1)"
