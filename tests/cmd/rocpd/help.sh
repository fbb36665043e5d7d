#!/bin/sh
. "$WS_SOURCE/tests/cmd/lib.sh"
for words in "rocpd" "rocpd --help" "rocpd convert --help" "rocpd query --help" "rocpd summary --help" \
	"rocpd merge --help" "rocpd package --help" "rocpd2csv --help" "rocpd2pftrace --help" \
	"rocpd2otf2 --help" "rocpd2summary --help"; do
	# shellcheck disable=SC2086
	run $words
	rc_is 0
	out_has "usage: "
	out_fits
done
run rocpd -v
is "$(wc -l <"$out")" 9 "lines of -v"
run rocpd query -i /no/such.db --query 'SELECT 1'
rc_is 2
err_has "File '/no/such.db' does not exist."
: >"$work/empty.db"
run rocpd query -i "$work/empty.db" --query 'SELECT 1'
rc_is 1
err_has "is not a rocpd database"
run rocpd convert -i "$work/empty.db"
rc_is 2
err_has "no format"
