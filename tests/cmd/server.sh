# Servers that tests start; to be read after lib.sh.
#
#   serve wavescope view FILE     starts it in the background; fills $url, $port and $server
#   fetch "tables"                what it answers to that, in $out; the status in $code
#   stop INT                      ends it with a signal; its exit code is $rc
server=
cleanup() { [ -z "$server" ] || kill "$server" 2>/dev/null || :; }

serve() {
	shown="$*"
	: >"$work/served" # now, not when the child begins: it may have the address of the one before
	"$@" >"$work/served" 2>"$work/served.err" &
	server=$!
	for try in $(seq 400); do
		url=$(sed -n '1s|^\(http://.*/\)$|\1|p' "$work/served")
		[ -z "$url" ] || break
		kill -0 "$server" 2>/dev/null || fail "'$shown' ended: $(cat "$work/served.err")"
		sleep 0.05
	done
	[ -n "$url" ] || fail "'$shown' prints no address"
	port=${url#http://127.0.0.1:}
	port=${port%%/*}
}

fetch() {
	code=$("$PYTHON" - "$url$1" "$out" <<'END'
import sys
import urllib.error
import urllib.request
try:
    with urllib.request.urlopen(sys.argv[1], timeout=20) as answer:
        code, body = answer.status, answer.read()
except urllib.error.HTTPError as error:
    code, body = error.code, error.read()
with open(sys.argv[2], "wb") as f:
    f.write(body)
print(code)
END
	)
	shown="GET $1"
}
code_is() { [ "$code" = "$1" ] || fail "'$shown' is answered with $code, not $1"; }

stop() {
	kill -s "$1" "$server"
	rc=0
	wait "$server" || rc=$?
	shown="SIG$1"
	server=
}
