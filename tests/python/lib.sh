# A person's script: our packages by PYTHONPATH, our commands by WAVESCOPE_BIN.
. "$WS_SOURCE/tests/cmd/lib.sh"
PYTHONPATH=$WS_SOURCE/python WAVESCOPE_BIN=$WS_BUILD/bin
export PYTHONPATH WAVESCOPE_BIN

run_tests() {
	limit_s=200 run "${PYTHON:-python3}" "$WS_SOURCE/tests/python/$1"
	rc_is 0
	grep -Eq '^Ran [1-9][0-9]* tests' "$err" || fail "no test ran"
	case $(tail -1 "$err") in
	OK) ;;
	OK*) skip_part "of the tests in $1: $(tail -1 "$err")" ;; # OK (skipped=1)
	*) fail "no result" ;;
	esac
}
