#!/bin/sh
# make install under DESTDIR: what is installed runs by itself. It finds its libraries, programs and
# packages where it was put, and uses nothing of the build tree.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_program meson
unset LD_LIBRARY_PATH LD_PRELOAD WAVESCOPE_BIN ROCPD_SCHEMA_PATH

run meson install -C "$WS_BUILD" --no-rebuild --quiet --destdir "$work/root"
rc_is 0
program=$(find "$work/root" -type f -name wavescope -path '*/bin/*')
[ -x "$program" ] || fail "no program installed"
prefix=$(dirname "$(dirname "$program")")
cd "$work"

# Every command, each of this version.
ls "$WS_BUILD/bin" | grep -v '\.p$' >built # wavescope.p has the object files
ls "$prefix/bin" >installed
same_files built installed "commands"
run "$WS_BUILD/bin/wavescope" --version
version=$(sed -n 's/^wavescope \([0-9.]*\).*/\1/p' "$out")
[ -n "$version" ] || fail "no version"
for name in $(cat installed); do
	run "$prefix/bin/$name" --version
	rc_is 0
	out_has "$version"
done

# Nothing that is installed names the build tree.
find "$prefix" -type f -exec grep -lF "$WS_BUILD" {} + >named || :
# (debugging information does, and so does a sanitizer's table of places)
for file in $(cat named); do
	! readelf -d "$file" 2>/dev/null | grep -F "$WS_BUILD" || fail "$file has a path into the build tree"
	readelf -h "$file" >/dev/null 2>&1 || fail "$file names the build tree"
done

# Definitions of metrics and of databases are the project's.
for file in "$WS_SOURCE"/data/metrics/*.metrics; do
	same_files "$file" "$prefix/share/wavescope/metrics/${file##*/}" "${file##*/} is not installed as it is"
done
for file in "$WS_SOURCE"/data/findings/*.finding; do
	same_files "$file" "$prefix/share/wavescope/findings/${file##*/}" "${file##*/} is not installed as it is"
done

# Manual pages and completions.
for file in man/man1/rocprofv3.1 bash-completion/completions/rocprofv3.bash \
	zsh/site-functions/_rocprofv3 fish/vendor_completions.d/rocprofv3.fish; do
	cmp -s "$prefix/share/$file" "$WS_BUILD/docs/${file##*/}" || fail "no share/$file"
done

# The Python packages find what is installed with them, not what is on PATH.
PYTHONPATH=$prefix/lib/wavescope/python
export PYTHONPATH
# (roctx is found, not imported: its library may need a sanitizer's runtime in front.)
run "$PYTHON" -c 'import _wavescope, rocpd, rocprofv3.avail, importlib.util
print(importlib.util.find_spec("roctx").origin, rocpd.__file__, _wavescope.find("rocpd"))'
rc_is 0
out_is "$PYTHONPATH/roctx/__init__.py $PYTHONPATH/rocpd/__init__.py $prefix/bin/rocpd"
run "$PYTHON" -m rocpd.schema --create new.db
rc_is 0
run "$PYTHON" -m rocpd query -i new.db --query "SELECT COUNT(*) AS n FROM kernels"
rc_is 0
is "$(sed -n 2p "$out" | tr -d ' ')" 0 "kernels of an empty database"

# The samples' sources are there, with what they include: hipcc vcopy.cpp -o vcopy.
need_tracing
for file in vcopy occupancy laplace_eqn; do
	same_files "$prefix/share/wavescope/sample/$file.cpp" "$WS_SOURCE/samples/$file.hip.cpp" "$file.cpp is not the sample"
done
same_files "$prefix/share/wavescope/sample/check.h" "$WS_SOURCE/samples/check.h" "check.h is not the samples'"

# A program on the installed software GPU, profiled by the installed tool: the dynamic linker says
# which files it really used.
run "$program" run -- sh -c 'echo $LD_PRELOAD:$LD_LIBRARY_PATH'
rc_is 0
softgpu=libwavescope-kfd.so
! grep -q ":$prefix/lib/wavescope\$" "$out" || softgpu=libhsakmt.so.1
[ $softgpu = libhsakmt.so.1 ] || out_has "$prefix/lib/wavescope/$softgpu"
run "$program" info --gpu mi210 --brief
rc_is 0
grep -Eq '^agent 2 +GPU +gfx90a +AMD Instinct MI210, 104 CUs' "$out" || fail "no MI210"
LD_DEBUG=files LD_DEBUG_OUTPUT=$work/linked run "$prefix/bin/rocprofv3" --kernel-trace -f csv -d . -o x -- \
	"$prefix/lib/wavescope/samples/vcopy" -n 65536 -b 256
rc_is 0
is "$(grep -c '"vecCopy' x_kernel_trace.csv)" 1 "kernels"
sed -n 's/.*calling init: //p' linked.* | sort -u >used
for lib in $softgpu libwavescope-companion.so libwavescope-collector.so; do
	grep -qxF "$prefix/lib/wavescope/$lib" used || fail "the installed $lib is not used: $(grep -F "$lib" used)"
done
! grep -F "$WS_BUILD" used || fail "the build tree is used"
