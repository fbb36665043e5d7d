#!/bin/sh
# Folders that other users write to: nothing of theirs is followed, and nobody is shut out.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
need_program setpriv
[ "$(id -u)" = 0 ] || skip "needs two users: run as root"
nobody() { setpriv --reuid nobody --regid nogroup --clear-groups "$@"; }
nobody test -x "$WS_BUILD/bin/rocprofv3" -a -x "$vcopy" || skip "nobody cannot read $WS_BUILD"
# Where the kernel guards sticky folders by itself, a plain one of theirs shows the same.
chmod 755 "$work"
mkdir theirs vault
chown nobody theirs
echo private >secret
chmod 600 secret
for name in 1.evt 2.def keep.txt; do echo "$name" >vault/$name; done

# Links under all names that a run will use, and a pipe that nobody reads.
cd theirs
for name in agent_info.csv kernel_trace.csv results.json results.pftrace results.db; do
	nobody ln -s "$work/secret" "x_$name.partial"
	nobody ln -s "$work/secret" "x_$name"
done
nobody ln -s "$work/secret" x.lock
nobody ln -s "$work/secret" x_config.json
nobody ln -s "$work/vault" x_results.otf2.partial
nobody ln -s "$work/vault" x_results
nobody ln -s "$work/vault" .rocprofv3
cd ..
run rocprofv3 --kernel-trace -f csv json pftrace rocpd -d theirs -o x \
	--output-config -- "$vcopy" -n 4096 -b 256
rc_is 0
is "$(cat secret)" private "the file that links point at"
is "$(stat -c %a secret)" 600 "its mode"
is "$(ls -A vault | tr '\n' ' ')" "1.evt 2.def keep.txt " "the folder that links point at"
for name in agent_info.csv kernel_trace.csv results.json results.pftrace results.db config.json; do
	[ ! -L theirs/x_$name ] || fail "x_$name is still a link"
	is "$(stat -c %u theirs/x_$name)" 0 "owner of x_$name"
done
is "$(rows theirs/x_kernel_trace.csv)" 1 "kernels"
[ ! -e theirs/.rocprofv3-0 ] || fail "captures are left"
is "$(readlink theirs/.rocprofv3)" "$work/vault" "what is not ours stays"

# An archive's folder that is not ours is an error, not a place to write to.
run rocprofv3 --kernel-trace -f otf2 -d theirs -o x -- "$vcopy" -n 4096 -b 256
is "$(ls -A vault | tr '\n' ' ')" "1.evt 2.def keep.txt " "after an OTF2 archive"
if grep -q libopen-trace-format2-dev "$err"; then
	skip_part "built without OTF2"
else
	rc_is 1
	err_has "cannot create the folder"
	rm theirs/x_results.otf2.partial
	run rocprofv3 --kernel-trace -f otf2 -d theirs -o x -- "$vcopy" -n 4096 -b 256
	rc_is 0
	is "$(ls -A vault | tr '\n' ' ')" "1.evt 2.def keep.txt " "after a second one"
	[ ! -L theirs/x_results ] || fail "x_results is still a link"
fi

# A pipe in place of the lock is not waited for.
rm theirs/x.lock
nobody mkfifo theirs/x.lock
limit_s=30
run rocprofv3 --kernel-trace -f csv -d theirs -o x -- "$vcopy" -n 4096 -b 256
rc_is 0

# A folder for captures that two users share: whoever is first does not shut out the other.
mkdir shared own
chmod 1777 shared
chown nobody own
mkdir -m 755 shared/.rocprofv3
ROCPROF_TMPDIR=$work/shared
TMPDIR=$work/own # HIP needs one that it can write to
export ROCPROF_TMPDIR TMPDIR
run setpriv --reuid nobody --regid nogroup --clear-groups \
	rocprofv3 --kernel-trace -f csv -d own -o x -- "$vcopy" -n 4096 -b 256
rc_is 0
is "$(rows own/x_kernel_trace.csv)" 1 "kernels of the second user"
is "$(ls -A shared)" .rocprofv3 "folders that are left"
# Also where the second name is taken, too.
mkdir -m 755 shared/.rocprofv3-65534
run setpriv --reuid nobody --regid nogroup --clear-groups \
	rocprofv3 --kernel-trace -f csv -d own -o z -- "$vcopy" -n 4096 -b 256
rc_is 0
is "$(rows own/z_kernel_trace.csv)" 1 "kernels of the second user"
is "$(ls -A shared | tr '\n' ' ')" ".rocprofv3 .rocprofv3-65534 " "folders that are left"
rmdir shared/.rocprofv3-65534
# What is kept is for its user's eyes, and --recover finds it.
run setpriv --reuid nobody --regid nogroup --clear-groups rocprofv3 --kernel-trace -f csv -d own \
	--keep-captures yes -o y -- "$vcopy" -n 4096 -b 256
rc_is 0
dir=$(echo shared/.rocprofv3-*)
is "$(stat -c '%U %a' "$dir")" "nobody 700" "owner and mode"
is "$(stat -c '%U %a' "$dir"/*)" "nobody 700" "owner and mode of the run"
run setpriv --reuid nobody --regid nogroup --clear-groups rocprofv3 --recover shared
err_has "$dir/"
