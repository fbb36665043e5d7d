#!/bin/sh
# Names of host code, from files that the compiler makes just now: as it is, stripped with a debug
# file beside it, with compressed symbols, and so on. test_host.c looks everything up.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_program cc
need_program objcopy

program=$(realpath "$1")
cd "$work"
cp "$WS_SOURCE/tests/code/host_sample.c" .
build() { # NAME FLAGS
	name=$1
	shift
	cc -O2 -Wl,--build-id=sha1 -o "$name" "$@" host_sample.c
}
debug_of() { objcopy --only-keep-debug "$1" "$2"; }

build whole -g
build compressed -g -gz
build split -g -gsplit-dwarf
build fixed -g -no-pie
build moved -g -Wl,-Ttext-segment=0x200000
build lazy -g -fcf-protection=full -Wl,-z,lazy -Wl,-z,ibtplt
build plain -fcf-protection=none -Wl,-z,lazy
build nameless -g -Wl,--build-id=none

# clang writes no .debug_aranges
objcopy --remove-section=.debug_aranges whole no_aranges

# stripped; where the debug file is, differs
mkdir beside below/.debug below stale none by_id -p
for place in beside below stale none; do
	objcopy --strip-all whole "$place/sample"
done
debug_of whole beside/sample.debug
(cd beside && objcopy --add-gnu-debuglink=sample.debug sample)
debug_of whole below/.debug/sample.debug
(cd below && objcopy --add-gnu-debuglink=.debug/sample.debug sample)
# of another build, with the name of the right one
build other -g -DOTHER=1 -O1
debug_of other stale/sample.debug
(cd stale && objcopy --add-gnu-debuglink=sample.debug sample)
# without a build id, the checksum decides
mkdir crc stale_crc
for place in crc stale_crc; do
	objcopy --strip-all nameless "$place/sample"
	debug_of nameless "$place/sample.debug"
	(cd "$place" && objcopy --add-gnu-debuglink=sample.debug sample)
done
printf 'x' >>stale_crc/sample.debug

# symbols only, compressed (MiniDebugInfo)
mini=
if part_needs xz; then
	objcopy --strip-debug --remove-section=.comment whole mini.symbols
	objcopy --only-keep-debug mini.symbols mini.debugdata
	xz --keep mini.debugdata
	objcopy --strip-all --add-section .gnu_debugdata=mini.debugdata.xz whole mini
	mini=yes
fi
mkfifo fifo
: >empty
printf '\177ELF' >cut

HAVE_MINI=$mini run "$program" "$work"
cat "$out" "$err"
[ "$rc" -ne 77 ] || exit 77
rc_is 0
