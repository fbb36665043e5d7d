#!/bin/sh
# make install under DESTDIR: the installed program runs and finds its own library there.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_program meson

run meson install -C "$WS_BUILD" --no-rebuild --quiet --destdir "$work/root"
rc_is 0
program=$(find "$work/root" -type f -name wavescope -path '*/bin/*')
[ -x "$program" ] || fail "no program installed"
run "$program" --version
rc_is 0
run "$program-roofline" --version
rc_is 0
if [ -e "$WS_BUILD/lib/libhsakmt.so.1" ]; then
	unset LD_LIBRARY_PATH 2>/dev/null || true
	run "$program" run -- sh -c 'echo $LD_LIBRARY_PATH'
	rc_is 0
	out_is "$(dirname "$(dirname "$program")")/lib/wavescope"
	run "$program" info --gpu mi210 --brief
fi
if [ -x "$WS_BUILD/samples/vcopy" ]; then
	# As guides have it: hipcc vcopy.cpp -o vcopy, with what it includes beside it.
	sample=$(find "$work/root" -type d -path '*/share/wavescope/sample')
	for file in vcopy.cpp occupancy.cpp laplace_eqn.cpp check.h; do
		[ -e "$sample/$file" ] || fail "no $file in share/wavescope/sample"
	done
fi
# The Python packages find what is installed with them, not what is on PATH.
prefix=$(dirname "$(dirname "$program")")
PYTHONPATH=$prefix/lib/wavescope/python PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE
unset WAVESCOPE_BIN ROCPD_SCHEMA_PATH
cd "$work"
# (roctx is found, not imported: its library may need a sanitizer's runtime in front.)
run "${PYTHON:-python3}" -c 'import _wavescope, rocpd, rocprofv3.avail, importlib.util
assert importlib.util.find_spec("roctx"); print(_wavescope.find("rocpd"))'
rc_is 0
out_is "$prefix/bin/rocpd"
run "${PYTHON:-python3}" -m rocpd.schema --create new.db
rc_is 0
run "${PYTHON:-python3}" -m rocpd query -i new.db --query "SELECT COUNT(*) AS n FROM kernels"
rc_is 0
is "$(sed -n 2p "$out" | tr -d ' ')" 0 "kernels of an empty database"
