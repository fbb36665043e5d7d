#!/bin/sh
# A program finds the user library with CMake and with pkg-config, as if it were installed.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_program cmake
need_program pkg-config
need_program cc

prefix=$work/prefix
mkdir -p "$prefix/include" "$prefix/lib/cmake/rocprofiler-systems" "$prefix/lib/pkgconfig" "$work/source"
cp -R "$WS_SOURCE/collector/user/include/rocprofiler-systems" "$prefix/include"
cp -P "$WS_BUILD"/lib/librocprof-sys-user.so* "$prefix/lib" 2>/dev/null || :
cp "$WS_BUILD"/collector/user/*.cmake "$prefix/lib/cmake/rocprofiler-systems"
sed "s|^prefix=.*|prefix=$prefix|" "$WS_BUILD/meson-private/rocprof-sys-user.pc" >"$prefix/lib/pkgconfig/rocprof-sys-user.pc"

cd "$work/source"
cat >app.c <<-C
	#include <rocprofiler-systems/user.h>
	int main(void) { return rocprofsys_user_push_region("step") == ROCPROFSYS_USER_ERROR_NO_BINDING ? 7 : 1; }
C
cat >CMakeLists.txt <<-CMAKE
	cmake_minimum_required(VERSION 3.16)
	project(app C)
	find_package(rocprofiler-systems 1.0 REQUIRED COMPONENTS user)
	add_executable(app app.c)
	target_link_libraries(app PRIVATE rocprofiler-systems::rocprofiler-systems-user-library)
CMAKE
run cmake -S . -B build -DCMAKE_PREFIX_PATH="$prefix"
rc_is 0
run cmake --build build
rc_is 0
run build/app
rc_is 7

# what wavescope does not have is said, not found
sed -i 's/COMPONENTS user/COMPONENTS coverage/' CMakeLists.txt
run cmake -S . -B build2 -DCMAKE_PREFIX_PATH="$prefix"
rc_is 1
err_has "no component 'coverage'"

PKG_CONFIG_PATH=$prefix/lib/pkgconfig
export PKG_CONFIG_PATH
# shellcheck disable=SC2046
run cc app.c $(pkg-config --cflags --libs rocprof-sys-user) -Wl,-rpath,"$prefix/lib" -o app
rc_is 0
run ./app
rc_is 7
