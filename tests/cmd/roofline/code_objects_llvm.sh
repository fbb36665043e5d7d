#!/bin/sh
# LLVM 17 and later know gfx941 and gfx942: what they assemble is what we make from gfx940's code.
. "$WS_SOURCE/tests/cmd/lib.sh"
[ -e "$WS_BUILD/programs/roofline/gfx942.hsaco" ] || skip "the kernels are not in this build (no clang?)"
for version in 19 18 17; do
	clang=$(command -v clang-$version) && objcopy=$(command -v llvm-objcopy-$version) && break
done
[ -n "${clang:-}" ] && [ -n "${objcopy:-}" ] || skip "no LLVM 17, 18 or 19 is installed"
for target in gfx940 gfx941 gfx942; do
	"$clang" -x assembler -target amdgcn-amd-amdhsa -mcpu=$target -c "$WS_SOURCE/programs/roofline/kernels.s" -o "$work/new.o"
	"$objcopy" -O binary --only-section=.text "$work/new.o" "$work/new"
	"$objcopy" -O binary --only-section=.text "$WS_BUILD/programs/roofline/$target.hsaco" "$work/ours"
	same_files "$work/new" "$work/ours" "$target is encoded in another way by clang $version"
done
