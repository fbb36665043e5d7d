#!/bin/sh
# The Debian packages: what is in them, where, and what they depend on. They are made from this build,
# not from a new one; scripts/try-deb installs real ones into a fresh Debian.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_program dh
need_softgpu
need_sample vcopy
version=$(sed -n "s/^  version: '\(.*\)',/\1/p" "$WS_SOURCE/meson.build")

cd "$work"
run meson install -C "$WS_BUILD" --no-rebuild --quiet --destdir "$work/root"
rc_is 0
program=$(find root -type f -name wavescope -path '*/bin/*')
prefix=$(dirname "$(dirname "$program")")
mkdir -p source installed
mv "$prefix" installed/usr
mv installed/usr/share/zsh/site-functions installed/usr/share/zsh/vendor-completions
cp -R "$WS_SOURCE/debian" source/
cd source
# Without stripping and compressing, which take most of the time.
INSTALLED=$work/installed DEB_OUTPUT=$work DEB_BUILD_OPTIONS='nostrip noautodbgsym' DPKG_DEB_FLAGS=-Znone
export INSTALLED DEB_OUTPUT DEB_BUILD_OPTIONS DPKG_DEB_FLAGS
limit_s=200 run debian/rules clean binary
rc_is 0
cd "$work"
deb=wavescope_${version}_amd64.deb
samples=wavescope-samples_${version}_amd64.deb
[ -s "$deb" ] && [ -s "$samples" ] || fail "debian/changelog is not about version $version: $(ls ./*.deb)"

dpkg-deb -c "$deb" | awk '{ print $6 $7 $8 }' | sed 's|^\./||; s|/$||' >files
has() { grep -qxF -e "$1" files || fail "the package has no $1"; }
lacks() { ! grep -q -E -e "$1" files || fail "the package has $(grep -E -e "$1" files)"; }
has usr/bin/wavescope
for name in rocprofv3 rocprofv3-avail rocpd rocprof-compute; do
	has "usr/bin/$name->wavescope"
	has "usr/share/man/man1/$name.1.gz"
	has "usr/share/bash-completion/completions/$name.bash"
	has "usr/share/zsh/vendor-completions/_$name"
	has "usr/share/fish/vendor_completions.d/$name.fish"
done
has "usr/bin/wavescope-roofline->../lib/wavescope/wavescope-roofline"
thunk=$([ ! -e "$WS_BUILD/lib/libhsakmt.so.1" ] || echo libhsakmt.so.1.0.6) # only where ROCr 5 is
for file in $thunk libwavescope-kfd.so libwavescope-collector.so libwavescope-hip.so fidelity-kernels \
	python/rocpd/__init__.py torch/sitecustomize.py; do
	has "usr/lib/wavescope/$file"
done
has "usr/lib/librocprof-sys-user.so->wavescope/librocprof-sys-user.so.1"
for file in include/rocprofiler-systems/user.h lib/pkgconfig/rocprof-sys-user.pc \
	lib/cmake/rocprofiler-systems/rocprofiler-systems-config.cmake; do
	has "usr/$file"
done
# Where others would find it, it would replace AMD's driver library.
lacks '^usr/lib/([^w/][^/]*/)?libhsakmt'
lacks 'samples/|__pycache__|^usr/local'
dpkg-deb -c "$samples" >samples
grep -q ' ./usr/lib/wavescope/samples/vcopy$' samples || fail "no sample vcopy"
! grep laplace_eqn samples || fail "a sample that needs an MPI"

# What is linked is a dependency, what is opened at run time is not: the tools start without ROCm.
depends=" $(dpkg-deb -f "$deb" Depends),"
for library in libc6 libdw1 libelf1 libjansson4 libpcre2-8-0 libpfm4 libsqlite3-0 libyaml-0-2; do
	case $depends in # t64: Debian 13's, with 64-bit time_t
	*" $library "* | *" $library,"* | *" ${library}t64 "* | *" ${library}t64,"*) ;;
	*) fail "the package does not depend on $library: $depends" ;;
	esac
done
case $depends in *hsa* | *hip* | *mpi*) fail "the package depends on $depends" ;; esac
is "$(dpkg-deb -f "$deb" Recommends)" "libamdhip64-5, libhsa-runtime64-1, libmicrohttpd12" Recommends
case " $(dpkg-deb -f "$samples" Depends)," in
*" wavescope (= $version),"*libamdhip64*) ;;
*) fail "samples depend on $(dpkg-deb -f "$samples" Depends)" ;;
esac
# Nobody's dependency on libhsakmt1 is satisfied by this.
is "$(dpkg-deb -f "$deb" Provides)" "" Provides
dpkg-deb --ctrl-tarfile "$deb" | tar -t >control
! grep -E 'shlibs|symbols|postinst' control || fail "control files that are not needed"
