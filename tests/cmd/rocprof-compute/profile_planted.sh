#!/bin/sh
# A profile in a folder of another user's: links there are not followed, nor is a folder in
# TMPDIR that anybody can guess the name of.
. "$WS_SOURCE/tests/cmd/rocprof-compute/lib.sh"
need_tracing
need_program setpriv
[ "$(id -u)" = 0 ] || skip "needs two users: run as root"
nobody() { setpriv --reuid nobody --regid nogroup --clear-groups "$@"; }
chmod 755 "$work"
mkdir theirs tmp
chown nobody theirs
chmod 777 tmp
echo private >secret
chmod 600 secret
cat >bench <<'SH'
#!/bin/sh
printf 'device,HBMBw\n0,1\n' >"$2"
SH
chmod +x bench

# Ranks of one launch share what one of them measured; they did so in a folder in TMPDIR.
start=$(sed 's/.*) //' /proc/$$/stat | cut -d ' ' -f 20)
nobody mkdir -m 777 tmp/rocprof-compute-benchmark-0
nobody ln -s "$work/secret" "tmp/rocprof-compute-benchmark-0/$$-$start-0.csv"
nobody ln -s "$work/secret" "tmp/rocprof-compute-benchmark-0/$$-$start--1.csv"
nobody mkdir -m 755 theirs/w
for name in log.txt sysinfo.csv sysinfo.csv.part roofline.csv.part pmc_perf_0.csv.part \
	profiling_config.yaml.part timestamps.csv.part; do
	nobody ln -s "$work/secret" theirs/w/$name
done
nobody ln -s "$work/secret" theirs/w/.rocprofv3
rc=0
shown=profile
TMPDIR=$work/tmp PMI_RANK=0 PMI_SIZE=1 ROOFLINE_BIN=$work/bench rocprof-compute profile \
	--output-directory theirs/w --roof-only -- "$vcopy" -n 4096 -b 256 >"$out" 2>"$err" || rc=$?
rc_is 0
is "$(cat secret)" private "the file that links point at"
where=theirs/w
[ -d theirs/w/0 ] && where=theirs/w/0
is "$(cat $where/roofline.csv)" "device,HBMBw
0,1" "peaks"
! grep -rq private theirs || fail "the private file was copied"
[ ! -L $where/log.txt ] || fail "log.txt is still a link"
is "$(stat -c %u $where/log.txt)" 0 "owner of the log"
is "$(ls tmp)" rocprof-compute-benchmark-0 "TMPDIR"

# analyze leaves files beside the data, and charts where it is told.
for name in pmc_kernel_top.csv pmc_dispatch_info.csv; do
	rm -f $where/$name
	nobody ln -s "$work/secret" $where/$name 2>/dev/null || ln -s "$work/secret" $where/$name
done
nobody mkdir theirs/dfs
nobody ln -s "$work/secret" theirs/dfs/1.1_System_Info.csv
run rocprof-compute analyze -p $where -b 1 --save-dfs theirs/dfs
rc_is 0
is "$(cat secret)" private "the file that links point at, after analyze"
