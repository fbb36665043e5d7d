#!/bin/sh
# Records what LLVM prints for the first word of every row and form, for disasm_golden.
#
#   tests/isa/record_golden.sh BUILD        every version of LLVM that can be loaded here
#   tests/isa/record_golden.sh BUILD 21     one of them
#
# Debian 12 has 15 and 19 (libllvm15, libllvm19). Version 21 is in the stack `sid`:
#
#   scripts/stack sid tests/isa/record_golden.sh BUILD 21
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 1 ] || { echo "usage: $0 BUILD [VERSION...]" >&2; exit 2; }
oracle=$1/tests/isa/disasm_oracle
shift
[ $# -gt 0 ] || set -- 15 19 21

for version; do
	case $version in
	15) file=disasm_golden.txt ;;
	19) file=disasm_golden_gfx942.txt ;;
	21) file=disasm_golden_gfx950.txt ;;
	*) echo "$0: no LLVM '$version': 15, 19, 21" >&2; exit 2 ;;
	esac
	rc=0
	"$oracle" "$version" first > "$here/$file.new" || rc=$?
	if [ $rc -ne 0 ]; then # 77: not here; other numbers: they differ, which has to be fixed first
		cat "$here/$file.new" >&2
		rm "$here/$file.new"
		[ $rc -eq 77 ] || exit $rc
		continue
	fi
	mv "$here/$file.new" "$here/$file"
	echo "$file: $(wc -l < "$here/$file") lines"
done
