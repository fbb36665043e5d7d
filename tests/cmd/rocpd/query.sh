#!/bin/sh
# Any SQL over one or more databases, in every format.
. "$WS_SOURCE/tests/cmd/rocpd/lib.sh"
q="SELECT grid_x, name, NULL AS \"none\" FROM kernels ORDER BY grid_x"
run rocpd query -i a_results.db b_results.db --query "$q"
rc_is 0
is "$(sed -n 2p "$out" | awk '{ print $1, $2, $NF }')" "65536 vecCopy(double*, None" row
is "$(sed -n 3p "$out" | awk '{ print $1 }')" 131072 row
is "$(tail -1 "$out")" "Done. Exiting..." "last line"
for f in csv json md html; do
	run rocpd query -i a_results.db b_results.db --format $f -o q -d q --query "$q"
	rc_is 0
	out_has "Exported to: $work/q/q.$f"
done
is "$(sed -n 1p q/q.csv)" 'grid_x,name,none' header
is "$(sed -n 2p q/q.csv)" '65536,"vecCopy(double*, double*, double*, int, int)",' row
is "$("${PYTHON:-python3}" -c 'import json; r = json.load(open("q/q.json")); print(len(r), r[1]["grid_x"], r[0]["none"])')" "2 131072 None" json
is "$(sed -n 2p q/q.md)" '|:---|:---|:---|' markdown
is "$(grep -c '<tr>' q/q.html)" 3 "html rows"
run rocpd query -i a_results.db --query 'SELECT * FROM kernels WHERE 0'
rc_is 0
err_has "No results found for query: SELECT * FROM kernels WHERE 0"
run rocpd query -i a_results.db --query 'SELECT nonsense'
rc_is 1
err_has "Error: "
echo "CREATE TEMP VIEW short AS SELECT dispatch_id FROM kernels;" >s.sql
run rocpd query -i a_results.db --script s.sql --query 'SELECT COUNT(*) AS n FROM short'
is "$(sed -n 2p "$out" | tr -d ' ')" 1 script
before=$(cksum a_results.db)
run rocpd query -i a_results.db --query 'DELETE FROM db0.rocpd_metadata'
is "$(cksum a_results.db)" "$before" "the input"

# Mistakes: what is wrong, and what to do.
expect() {
	code=$1 text=$2
	shift 2
	run rocpd query "$@"
	rc_is "$code"
	err_has "$text"
	out_is_empty
}
expect 1 "rocpd: Error: SQLite: no such table: nope: --query 'SELECT name FROM pragma_table_list'" \
	-i a_results.db --query 'SELECT * FROM nope'
expect 1 "no SQL statement in '': --query 'SELECT name" -i a_results.db --query ''
expect 1 "more than one SQL statement in 'SELECT 1; SELECT 2': --query 'SELECT name" -i a_results.db --query 'SELECT 1; SELECT 2'
expect 2 "'.' is a folder but not a package: specify the databases in it" -i . --query 'SELECT 1'
expect 2 "'a_results.db' contains a run that is also in another input" \
	-i a_results.db b_results.db a_results.db --query 'SELECT 1'
expect 2 "--inclusive: 'maybe' is not true or false" -i a_results.db --query 'SELECT 1' --start 5% --inclusive maybe
run rocpd query -i a_results.db --query 'SELECT 1 AS one; -- done'
rc_is 0
