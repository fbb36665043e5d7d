#!/bin/sh
# In a stack (scripts/test-stacks): what rocm-smi says while a program keeps the GPU busy. smi.sh FOLDER
set -eu
out=$1
if [ -z "$(command -v rocm-smi)" ]; then
	echo "SKIP: this stack has no rocm-smi"
	exit 77
fi
# hipcc would look for GPUs, and takes C for HIP
cc=$(find /usr/bin -name 'clang-[0-9][0-9]' | sort | head -1)
"$cc" -O1 -o "$out/keep_busy" tests/kfd/keep_busy.c -lhsa-runtime64
rm -f "$out/ready"
"$out/keep_busy" 2048 "$out/ready" &
worker=$!
trap 'kill $worker' EXIT
for _ in $(seq 300); do
	[ -e "$out/ready" ] || sleep 0.1
done
sleep 0.5
rocm-smi --showuse --showmeminfo vram --showpids >"$out/smi.txt" || : # it fails if one value of many is missing
cat "$out/smi.txt"
grep -Eq 'GPU use \(%\): *[1-9]' "$out/smi.txt"
# of this and of all other programs that run now
grep -Eq 'Total Used Memory \(B\): *([2-9]|[0-9]{2})[0-9]{9}' "$out/smi.txt"
grep -Eq "^$worker[[:space:]]+keep_busy[[:space:]]+1[[:space:]]+2[0-9]{9}" "$out/smi.txt"
