#!/bin/sh
# Two GPUs of different targets: a row each; the first layout; nothing but errors when quiet.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_softgpu
cd "$work"

limit_s=280 # 15 s on an idle machine
run wavescope run --gpu mi100,mi100 -- wavescope-roofline -q -d 1 -e 1 --layout first -o one.csv
rc_is 0
err_is_empty
out_is_empty
is "$(wc -l <one.csv)" 2 "lines of one.csv"
head -1 one.csv | grep -q '^device,HBMBw,HBMBwLow,hbmBwHigh,L2Bw,' || fail "not the first layout"
# MI100: 120 CUs of 1502 MHz: 23.1 Tflop/s, half of it in double precision; no matrices of doubles
awk -F, 'NR == 2 {
	bad = $1 != 1 || $14 < 20000 || $14 > 23100 || $17 < 10000 || $17 > 11550 || $29 != 0
	print $1, $2, $14, $17, $29
	exit bad
}' one.csv || fail "not the peaks of an MI100"
