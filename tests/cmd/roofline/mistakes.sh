#!/bin/sh
# Each mistake gets one line on stderr and leaves no file behind.
. "$WS_SOURCE/tests/cmd/lib.sh"
cd "$work"

mistake() {
	want_rc=$1
	want=$2
	shift 2
	run "$@"
	rc_is "$want_rc"
	out_is_empty
	err_is "wavescope-roofline: $want"
	[ ! -e roofline.csv ] || fail "'$shown' wrote a file"
}

mistake 2 "unexpected argument 'extra': only options are accepted" wavescope-roofline extra
mistake 2 "--device -2: 0 to 63, or -1 for all" wavescope-roofline -d -2
mistake 2 "--experiments 0 measures nothing: use 1 or more" wavescope-roofline -e 0
mistake 1 "cannot write to '/nowhere': No such file or directory" wavescope-roofline -o /nowhere/x.csv

# where there is no driver the runtime does not start
[ -e /dev/kfd ] || mistake 1 "the HSA runtime failed to start (status 0x1008), probably for lack of a GPU: \
'wavescope doctor' checks why, 'wavescope run -- wavescope-roofline' uses the software GPU" wavescope-roofline

run wavescope-roofline --help
rc_is 0
out_fits
out_has '--layout'

need_softgpu
mistake 1 "no GPU 3: there is 1, counted from 0" wavescope run -- wavescope-roofline -q -d 3
