#!/bin/sh
# Kernel replay, application replay and multiplexing give the same counters; programs that
# do something else every time are matched as far as they can be.
. "$WS_SOURCE/tests/cmd/rocprof-compute/lib.sh"
need_tracing

# A run leaves a mark, so that runs can be counted.
cat >app <<SH
#!/bin/sh
echo run >>$work/runs
exec "$vcopy" "\$@"
SH
chmod +x app

profile --output-directory kernel -- ./app -n 4096 -b 256 -i 2
rc_is 0
is "$(wc -l <runs | tr -d ' ')" 1 "runs with kernel replay"
rm runs
profile --output-directory application --replay application -- ./app -n 4096 -b 256 -i 2
rc_is 0
is "$(wc -l <runs | tr -d ' ')" 12 "runs with application replay"
out_has "[Run 1/12][Approximate profiling time left: pending first measurement]..."
out_has "[Run 12/12]"
counters_of kernel >a
counters_of application >b
same_files a b "the two differ"

# Multiplexing: one run, a set per launch.
rm runs
profile --output-directory mux --iteration-multiplexing kernel -- ./app -n 4096 -b 256 -i 14
rc_is 0
is "$(wc -l <runs | tr -d ' ')" 1 "runs with multiplexing"
out_has "Iteration multiplexing: kernel"
grep -q '^iteration_multiplexing: kernel$' mux/profiling_config.yaml || fail "config"
counters_of mux >c
for counter in SQ_WAVES SQ_INSTS_VALU SQ_INSTS_SMEM TA_FLAT_WAVEFRONTS_sum SQ_BUSY_CYCLES; do
	set -- $(grep "^$counter " c)
	is $# 15 "values of $counter"
done
# What follows from the instructions is the same in every launch.
for counter in SQ_WAVES SQ_INSTS_VALU TA_FLAT_WAVEFRONTS_sum; do
	same "$(grep "^$counter " a | cut -d' ' -f2)" "$(grep "^$counter " c | cut -d' ' -f15)" "$counter"
done
run rocprof-compute analyze -p mux -b 10.1
rc_is 0

# Too few launches: the kernel is named, what it lacks stays empty.
profile --output-directory few --iteration-multiplexing -- "$vcopy" -n 4096 -b 256 -i 3
rc_is 0
out_has "at least 12 times (50 recommended)"
out_has "vecCopy(double*, double*, double*, int, int) (3 dispatches)"
out_has "Iteration multiplexing: kernel_launch_params"

# Launches of different sizes go separate ways with one policy, and together with the other.
need_sample reduction
for policy in kernel kernel_launch_params; do
	profile --output-directory by_$policy -b 12 --iteration-multiplexing $policy -- \
		sh -c "'$vcopy' -n 4096 -b 256 -i 3 && '$vcopy' -n 8192 -b 256 -i 3"
	rc_is 0
	is "$(rows by_$policy/pmc_perf_0.csv)" 6 "rows of two programs"
done

# A program that launches more every time: matched by kernel, size and number.
cat >moods.sh <<SH
#!/bin/sh
echo run >>$work/moods
n=\$(wc -l <$work/moods)
"$vcopy" -n 4096 -b 256 -i \$((n > 2 ? 4 : 2)) && "$vcopy" -n \$((4096 * (n % 2 + 1))) -b 256
SH
chmod +x moods.sh
profile --output-directory moody --replay application -b 10 -- ./moods.sh
rc_is 0
out_has "The runs of the program differ: 2 of"
out_has "vecCopy(double*, double*, double*, int, int), grid 4096: 2 to"
out_has "grid 8192: 0 to 1"
run rocprof-compute analyze -p moody -b 10.1
rc_is 0

# Runs that have nothing in common are no profile, unless names are enough.
cat >other.sh <<SH
#!/bin/sh
echo run >>$work/others
exec "$vcopy" -n \$((4096 * \$(wc -l <$work/others))) -b 256
SH
chmod +x other.sh
profile --output-directory apart --replay application -b 7 -- ./other.sh
rc_is 1
out_has "The runs of the program differ: 0 of"
err_has "have no dispatch in common: count in one run (--replay kernel"
profile --output-directory named --replay application -b 7 --join-type kernel -- ./other.sh
rc_is 0
run rocprof-compute analyze -p named -b 7.2
rc_is 0

# The long form is put together by numbers: those of the first run's counterparts.
cat >turns.sh <<SH
#!/bin/sh
echo run >>$work/turns
n=\$(wc -l <$work/turns)
if [ \$((n % 2)) -eq 1 ]; then
	"$vcopy" -n 4096 -b 256 && "$vcopy" -n 8192 -b 256
else
	"$vcopy" -n 8192 -b 256 && "$vcopy" -n 4096 -b 256
fi
SH
chmod +x turns.sh
profile --output-directory numbered --replay application --format-rocprof-output rocpd -b 12 \
	-- ./turns.sh
rc_is 0
out_has "2 dispatches of 1 kernel, each in all passes"
for file in numbered/results_*.csv; do
	is "$(sed 1d "$file" | cut -d, -f2,3 | sort -u | tr "\n" " ")" "0,4096 1,8192 " "$file"
done
run rocprof-compute analyze -p numbered -b 12.2
rc_is 0
