#!/bin/sh
# The code objects for gfx941, gfx942 and gfx950 are those of gfx940 with another machine number.
. "$WS_SOURCE/tests/cmd/lib.sh"
[ -e "$WS_BUILD/programs/roofline/gfx942.hsaco" ] || skip "the kernels are not in this build (no clang?)"
embed=$WS_SOURCE/gpu/embed.py

for pair in gfx908=48 gfx90a=63 gfx940=64 gfx941=75 gfx942=76 gfx950=79; do
	target=${pair%=*}
	object=$WS_BUILD/programs/roofline/$target.hsaco
	"$PYTHON" "$embed" "$work/code.c" table "$target=$object" || fail "embed.py fails for $target"
	"$PYTHON" - "$work/code.c" "$object" "${pair#*=}" <<'END' || fail "$target is not what it has to be"
import re, sys
text = open(sys.argv[1]).read()
data = bytes(int(n) for n in re.search(r"= \{\n(.*?)\};", text, re.S).group(1).replace(",", " ").split())
original = open(sys.argv[2], "rb").read()
assert data[48] == int(sys.argv[3]), data[48]
assert data[:48] == original[:48] and data[49:] == original[49:]
END
done

printf 'not an ELF file' >"$work/bad"
run "$PYTHON" "$embed" "$work/code.c" table "gfx90a=$work/bad"
rc_is 1
err_has "bad is not a code object of an AMD GPU"
