#!/bin/sh
# What AMD's compiler library produced is kept in files, and found by the next program.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_softgpu
need_sample vcopy
[ -e "$WS_BUILD/lib/libwavescope-companion.so" ] || fail "the library is not in this build"
vcopy=$WS_BUILD/samples/vcopy
cd "$work"

# HIP's own kernels take four actions that are worth keeping.
run_vcopy() { # [ARGUMENTS OF env]
	run env "$@" WAVESCOPE_LOG=debug wavescope run -- "$vcopy"
	rc_is 0
	err_has PASS
}
count() { grep -c "code cache: action .*: $1\$" "$err" || :; }
kept_and_found() {
	is "$(count kept)" "$1" "results kept"
	is "$(count found)" "$2" "results found"
}
files() { ls "$1" 2>/dev/null | wc -l; }

export WAVESCOPE_CODE_CACHE="$work/code"
run_vcopy
kept_and_found 4 0
is "$(files code)" 4 "files"
is "$(stat -c %a code)" 700 "mode of the folder"
run_vcopy
kept_and_found 0 4
run_vcopy WAVESCOPE_GPU=mi100 # other code
kept_and_found 4 0
is "$(files code)" 8 "files"

# Damaged files are as none, and replaced.
for file in code/*; do
	printf x | dd of="$file" bs=1 seek=100 conv=notrunc 2>/dev/null
done
run_vcopy
kept_and_found 4 0
run_vcopy
kept_and_found 0 4
# Bitcode contains the name of a temporary file, so what is linked again is not quite the same.
is "$(files code)" 9 "files"

# Several at once, and none before them.
rm -r code
for i in 1 2 3; do
	wavescope run -- "$vcopy" >"$i.out" 2>&1 &
done
wait
is "$(cat ./*.out | grep -c PASS)" 3 "programs that pass"
run_vcopy
kept_and_found 0 4

# Off, without a home, and where no folder can be made: nothing but slower.
run_vcopy WAVESCOPE_CODE_CACHE=off
kept_and_found 0 0
run_vcopy -u WAVESCOPE_CODE_CACHE -u HOME -u XDG_CACHE_HOME
err_has "code cache: not used: neither XDG_CACHE_HOME nor HOME is set"
run_vcopy WAVESCOPE_CODE_CACHE=/proc/none
err_has "code cache: not used: cannot create the folder '/proc/none"
run env WAVESCOPE_CODE_CACHE=here wavescope run -- "$vcopy"
rc_is 2
err_is "wavescope: WAVESCOPE_CODE_CACHE is 'here': give off, or the absolute path of a folder"

# By default in the user's folder for caches.
run_vcopy -u WAVESCOPE_CODE_CACHE HOME="$work" XDG_CACHE_HOME=
is "$(files .cache/wavescope/code)" 4 "files in ~/.cache/wavescope/code"

# hipRTC, also where a compilation fails: that is not kept, and says the same again.
rtc=$WS_BUILD/tests/hip/rtc
if [ -x "$rtc" ]; then
	run_rtc() {
		run env WAVESCOPE_LOG=debug wavescope run -- "$rtc"
		rc_is 0
		out_has PASS
	}
	run_rtc
	if grep -q 'action 15: not kept' "$err"; then
		# HIP 5.7 uses options that are not known to be harmless: the source is compiled again, and linked
		kept_and_found 3 4
		run_rtc
		kept_and_found 1 6
	else
		kept_and_found 4 4 # HIP's own kernels are there
		run_rtc
		kept_and_found 0 8
	fi
else
	skip_part "the HIP tests are not in this build"
fi
