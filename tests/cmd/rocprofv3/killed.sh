#!/bin/sh
# Whoever is killed: what was recorded becomes output.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing

# The program kills itself after its work; the shell around it is followed, too.
cat >app.sh <<END
"$vcopy" -n 65536 -b 256 >&2
kill -KILL \$\$
END
run "${PYTHON:-python3}" -c '
import subprocess
print(subprocess.run(["rocprofv3", "--kernel-trace", "-f", "csv", "-o", "k", "-d", "a", "--", "sh", "app.sh"]).returncode)'
out_is -9
is "$(rows a/k_kernel_trace.csv)" 1 kernels

# A filter of system calls may not know those of the collector: whoever is killed by it is told.
run "${PYTHON:-python3}" -c '
import subprocess
print(subprocess.run(["rocprofv3", "--kernel-trace", "-d", "s", "--", "sh", "-c", "kill -SYS $$"]).returncode)'
out_has -31
err_has "rocprofv3: warning: the program was killed by a filter of system calls (seccomp): allow those of the collector"

# The front end is killed: the program goes on, and its records wait.
run "${PYTHON:-python3}" -c '
import os, signal, subprocess, sys, time
p = subprocess.Popen(["rocprofv3", "--kernel-trace", "-f", "csv", "-o", "k", "-d", "b", "--",
    "sh", "-c", "echo $$; read line; exec \"$0\" -n 65536 -b 256", sys.argv[1]],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE)
pid = int(p.stdout.readline())
p.kill()
p.wait()
p.stdin.write(b"go\n"); p.stdin.flush()
p.stdout.read()   # until the program has ended
for i in range(200):
    if not os.path.exists("/proc/%d" % pid): break
    time.sleep(0.05)' "$vcopy"
rc_is 0
[ ! -e b/k_kernel_trace.csv ] || fail "output without a front end"
dir=$(echo b/.rocprofv3/*)
[ -d "$dir" ] || fail "no captures were left"
cd /
run rocprofv3 --recover "$work/$dir"
rc_is 0
cd "$work"
is "$(rows b/k_kernel_trace.csv)" 1 "recovered kernels"
# With other options: those that are typed win.
run rocprofv3 --recover "$dir" -f json -o again -d c
rc_is 0
[ -s c/again_results.json ] || fail "no c/again_results.json"
run rocprofv3 --recover /no/such/dir
rc_is 1
err_has /no/such/dir
# A folder that holds none is not called one that may be removed; the one that is meant is named.
for folder in b b/.rocprofv3; do
	run rocprofv3 --recover $folder
	rc_is 1
	err_has "'$folder' contains no captures: use '$work/$dir'"
	err_lacks removed
done
run rocprofv3 --recover c
rc_is 1
err_has "'c' contains no captures of a run"

# A folder with the name of a nightmare: the command in the message works as it stands, and finds its way.
odd='o d"d
$(touch no) `touch no` \\'
mkdir -p "$odd/k_kernel_trace.csv/in the way"
run rocprofv3 --kernel-trace -f csv -o k -d "$odd" -- "$vcopy" -n 65536 -b 256
rc_is 1
cp "$err" "$err.kept"
rm -r "$odd/k_kernel_trace.csv"
run "${PYTHON:-python3}" -c '
import re, subprocess, sys
command = re.search(r"the captures are kept: .(rocprofv3 --recover .*). tries again", open(sys.argv[1]).read(), re.S).group(1)
sys.exit(subprocess.run(command, shell=True).returncode)' "$err.kept"
rc_is 0
is "$(rows "$odd/k_kernel_trace.csv")" 1 "kernels recovered by the command of the message"
[ ! -e no ] || fail "the shell did something else"
