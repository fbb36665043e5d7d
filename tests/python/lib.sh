# A person's script: our packages by PYTHONPATH, our commands by WAVESCOPE_BIN.
. "$WS_SOURCE/tests/cmd/lib.sh"
PYTHONPATH=$WS_SOURCE/python WAVESCOPE_BIN=$WS_BUILD/bin PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH WAVESCOPE_BIN PYTHONDONTWRITEBYTECODE

run_tests() {
	limit_s=200 run "${PYTHON:-python3}" "$WS_SOURCE/tests/python/$1"
	rc_is 0
	err_has "OK"
}
