# Two databases of two runs, for the tests of rocpd.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
need_program sqlite3
run rocprofv3 --runtime-trace -f rocpd csv pftrace -o a -- "$vcopy" -n 65536 -b 256
rc_is 0
run rocprofv3 --runtime-trace -f rocpd -o b -- "$vcopy" -n 131072 -b 256
rc_is 0
