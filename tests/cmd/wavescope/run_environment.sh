#!/bin/sh
# The environment: ours in front, the user's kept, nothing else changed.
. "$WS_SOURCE/tests/cmd/lib.sh"
fake_install
WAVESCOPE_DRIVER=thunk # whatever ROCr this machine has; kernel_driver.sh has the other way
export WAVESCOPE_DRIVER
! nm -D "$WS_BUILD/bin/wavescope" | grep -q '__[at]san_init' ||
	skip "a build with a sanitizer adds that to LD_PRELOAD"
dir=$work/prefix/lib/wavescope

unset LD_LIBRARY_PATH LD_PRELOAD 2>/dev/null || true
show='echo "$LD_LIBRARY_PATH|${LD_PRELOAD-unset}|$WAVESCOPE_GPU|${WAVESCOPE_WORKERS-unset}"'

run wavescope run -- sh -c "$show"
out_is "$dir|unset|mi210|unset"

LD_LIBRARY_PATH=/user/lib:/other
export LD_LIBRARY_PATH
run wavescope run --gpu mi100,MI250X -w 3 -- sh -c "$show"
out_is "$dir:/user/lib:/other|unset|mi100,mi250x|3"

# Repeated --gpu is one list; within a run of ours the folder is not added twice.
run wavescope run -g mi210 -g mi100 -- wavescope run -- sh -c "$show"
out_is "$dir:/user/lib:/other|unset|mi210,mi100|unset"

# --gpu wins over the environment, the environment over the default.
WAVESCOPE_GPU=mi100
export WAVESCOPE_GPU
run wavescope run -- sh -c "$show"
out_is "$dir:/user/lib:/other|unset|mi100|unset"
run wavescope run --gpu mi210 -- sh -c "$show"
out_is "$dir:/user/lib:/other|unset|mi210|unset"
unset WAVESCOPE_GPU

# The loader complains about our empty stand-in, and the program runs all the same.
run wavescope run --preload -- sh -c "$show"
out_is "$dir:/user/lib:/other|$dir/libhsakmt.so.1|mi210|unset"

# One inside of another takes out what that one chose: a program never gets the software GPU in both ways.
: >"$dir/libwavescope-kfd.so"
show='echo "${LD_LIBRARY_PATH-unset}|${LD_PRELOAD-unset}"'
run wavescope run --preload -- env WAVESCOPE_DRIVER=kernel wavescope run -- sh -c "$show"
out_is "/user/lib:/other|$dir/libwavescope-kfd.so"
WAVESCOPE_DRIVER=kernel LD_PRELOAD=/user/none.so run wavescope run -- \
	env WAVESCOPE_DRIVER=thunk wavescope run -- sh -c "$show"
out_is "$dir:/user/lib:/other|/user/none.so"
LD_LIBRARY_PATH=$dir WAVESCOPE_DRIVER=kernel run wavescope run -- sh -c "$show"
out_is "unset|$dir/libwavescope-kfd.so"

env | sort | grep -v '^_=' >"$work/before"
wavescope run -- env | sort | grep -v '^_=' >"$work/after"
diff "$work/before" "$work/after" | grep '^[<>]' | sed 's/=.*//' | sort -u >"$work/changed" || true
printf '%s\n' '< LD_LIBRARY_PATH' '> LD_LIBRARY_PATH' '> WAVESCOPE_GPU' |
	cmp -s - "$work/changed" || fail "changed: $(tr '\n' ' ' <"$work/changed")"

# What the software GPU would only say inside the program is said before it runs.
WAVESCOPE_WORKERS=x run wavescope run -- true
rc_is 2
err_is "wavescope: WAVESCOPE_WORKERS is 'x': give a number from 1 to 1024"
