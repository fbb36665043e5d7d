#!/bin/sh
# Each mistake gets one line on stderr that says what to do, exit code 2, nothing on stdout.
. "$WS_SOURCE/tests/cmd/lib.sh"

mistake() {
	want=$1
	shift
	run wavescope "$@"
	rc_is 2
	out_is_empty
	err_is "wavescope: $want"
}

fake_install
mistake "no command given: 'wavescope --help' lists the commands"
mistake "unknown command 'rnu': did you mean 'run'?" rnu -- true
mistake "unknown command 'docter': did you mean 'doctor'?" docter
mistake "unknown command 'frobnicate': 'wavescope --help' lists the commands" frobnicate
mistake "unknown option '--gpuu': did you mean '--gpu'?" run --gpuu mi210 -- true
mistake "unknown option '--zzz': --help lists them" doctor --zzz
mistake "unknown option '-x': --help lists them" run -x -- true
mistake "option '--gpu' needs a value: --gpu LIST" run --gpu
mistake "option '--workers': 'many' is not a whole number" run --workers many -- true
mistake "no GPU model 'mi21': did you mean 'mi210'?" run --gpu mi21 -- true
soft="mi100, mi210, mi250x, mi300a, mi300x, mi325x, mi350x, mi355x"
mistake "no software MI308X yet: use $soft" run --gpu mi308x -- true
mistake "no compute partition 'tpx' on MI300X_A1: use SPX, DPX, QPX, CPX" run --gpu mi300x:tpx -- true
mistake "empty name in GPU list 'mi210,': use $soft" run -g mi210, -- true
mistake "no program to run: wavescope run [options] -- PROGRAM [ARG...]" run
mistake "no program to run: wavescope run [options] -- PROGRAM [ARG...]" run --gpu mi210 --
mistake "unexpected argument 'extra': info takes only options" info extra
mistake "unexpected argument 'extra': doctor takes only options" doctor extra

mistake "GPU times 'fast': host or simulated (--gpu-time, WAVESCOPE_GPU_TIME)" run --gpu-time fast -- true
mistake "GPU times 'fast': host or simulated (--gpu-time, WAVESCOPE_GPU_TIME)" run --times fast -- true
mistake "option '--sample-waves': 'few' is not a whole number" run --sample-waves few -- true
mistake "--sample-only (WAVESCOPE_SAMPLE_ONLY=1) requires --sample-waves N (WAVESCOPE_SAMPLE_WAVES)" run --sample-only -- true

WAVESCOPE_MODEL=never
export WAVESCOPE_MODEL
mistake "WAVESCOPE_MODEL is 'never': give always or full, or unset it" run -- true
unset WAVESCOPE_MODEL
WAVESCOPE_WAIT=nap
export WAVESCOPE_WAIT
mistake "WAVESCOPE_WAIT is 'nap': give sleep or spin" run -- true
unset WAVESCOPE_WAIT

WAVESCOPE_GPU=mi211
export WAVESCOPE_GPU
mistake "WAVESCOPE_GPU: no GPU model 'mi211': did you mean 'mi210'?" run -- true
