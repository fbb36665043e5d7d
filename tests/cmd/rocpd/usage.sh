#!/bin/sh
# Where rocpd writes, and that a query runs once.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
run rocprofv3 --kernel-trace -f rocpd -o x -- "$vcopy" -n 4096 -b 256 -i 3
rc_is 0
mkdir here
cd here
sql='SELECT count(*) AS n FROM kernels'
run rocpd query -i ../x_results.db --query "$sql" --format csv -o "$work/abs/q"
rc_is 0
is "$(cat "$work/abs/q.csv")" "n
3" "what the query found"
run rocpd convert -i ../x_results.db -f csv -o "$work/abs/c" -d elsewhere
rc_is 0
[ -s "$work/abs/c_kernel_trace.csv" ] || fail "no table: $(ls "$work/abs")"
run rocpd summary -i ../x_results.db --format csv -o "$work/abs/s"
rc_is 0
[ -s "$work/abs/s_kernels_summary.csv" ] || fail "no summary: $(ls "$work/abs")"
is "$(ls)" "" "what is left here"
run rocpd query -i ../x_results.db --query "$sql" --format csv -d . -o '%tpyo%'
err_has "unknown placeholder %tpyo%"

# On the console, too: what a statement changes is changed once.
cat >views.sql <<'SQL'
CREATE TEMP TABLE t(n INTEGER);
SQL
run rocpd query -i ../x_results.db --script views.sql \
	--query 'INSERT INTO t VALUES (7), (8) RETURNING rowid AS id, n'
rc_is 0
is "$(sed -n '1,3p' "$out" | tr -s ' ' | tr '\n' '|')" "id n| 1 7| 2 8|" "rows"
