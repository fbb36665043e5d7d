#!/bin/sh
# Several -p: every table beside the baseline's. Rows of --like-3.3 are what AMD's 3.3 prints for
# the same files.
. "$WS_SOURCE/tests/cmd/lib.sh"

make_workload() { "$PYTHON" "$WS_SOURCE/tests/cmd/compute/make_workload.py" "$@" --no-roof; }
# A row of the report, blanks squeezed, | between cells; the first whose first cell is ID.
row() { # ID
	sed -n 's/│/|/g; s/  */ /g; /^| '"$1"' |/p' "$out" | head -n 1
}

cd "$work"
make_workload a
make_workload b --dispatches 4 --slower gemm=0.01
make_workload c --without SQ_INSTS
make_workload d --rename copy=fill

# Kernels are matched by name; one difference of counts, that of the last run that has one,
# after the first that has one.
run rocprof-compute analyze -p a -p b -p d -b 7.2
rc_is 0
is "$(row 0 | cut -d'|' -f3-9)" \
	" gemm(float const*, float const*, float*) | 6.00 | 4.0 (-33.33%) | -2.00 | 6.0 (0.0%) | 6014995.00 | 40090.0 (-99.33%) " \
	"the kernel of the same name"
is "$(row 2 | cut -d'|' -f4-7)" " 6.00 | 4.0 (-33.33%) | -2.00 | N/A " "a kernel that one run lacks"
is "$(row 3 | cut -d'|' -f3-7)" ' fill(char*, "a & b", </script>) | N/A | N/A | N/A | 6.0 (N/A) ' \
	"a kernel that only one run has"

# 3.3 matches row by row.
run rocprof-compute analyze -p a -p b -p c -b 7.2 --like-3.3
rc_is 0
is "$(row 0 | cut -d'|' -f4-9)" \
	" 6.00 | 4.0 (-33.33%) | -2.00 | 6.0 (0.0%) | 6014995.00 | 400630.0 (-93.34%) " "row by row"

# -k marks the baseline's kernels.
run rocprof-compute analyze -p a -p b -k 1 -b 7.2
rc_is 0
is "$(row 0 | awk -F'|' '{ print $(NF - 1) }')" " " "a kernel that was not chosen"
is "$(row 1 | awk -F'|' '{ print $(NF - 1) }')" " * " "a chosen kernel"

# A value the baseline lacks is no change. In 3.3 it is nan where the unit passes for a time.
run rocprof-compute analyze -p c -p a -b 7.2
rc_is 0
is "$(row 7.2.2 | cut -d'|' -f4-5)" " N/A | 204.59 (N/A) " "no baseline"
run rocprof-compute analyze -p c -p a -b 7.2 --like-3.3
rc_is 0
is "$(row 7.2.2 | cut -d'|' -f4-5)" " nan | 204.59 (nan%) " "no baseline, as 3.3 prints it"
is "$(row 7.2.3 | cut -d'|' -f4-5)" " | 0.0 (0.0%) " "no baseline and no time, as 3.3 prints it"

# Units of time hold for every run: 3.3 converts the baseline alone.
run rocprof-compute analyze -p a -p a2 -b 7.2 -t us
rc_is 1
cp -r a a2
run rocprof-compute analyze -p a -p a2 -b 7.2 -t us
rc_is 0
is "$(row 7.2.0 | cut -d'|' -f4-5)" " 370.89 | 370.89 (0.0%) " "microseconds"

# Channels are names here, and numbers to compare in 3.3.
cp -r "$WS_SOURCE/tests/cmd/compute/workloads/gfx942" e
cp -r e f
run rocprof-compute analyze -p e -p f -b 18.2
rc_is 0
grep -q '│ Metric_ID  *│  *Channel │  *Min │' "$out" || fail "channels are compared"
run rocprof-compute analyze -p e -p f -b 18.2 --like-3.3
rc_is 0
is "$(row 18.2.1 | cut -d'|' -f3-4)" " 1.00 | 1.0 (0.0%) " "channels in 3.3"

# Hidden columns keep their order, however they are asked for.
run rocprof-compute analyze -p a -b 7.2 --include-cols Description coll_level
rc_is 0
grep -q 'coll_level  *│ Description' "$out" || fail "the order of hidden columns"
