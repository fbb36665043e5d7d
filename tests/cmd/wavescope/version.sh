#!/bin/sh
# --version prints one line: the name, and the version that the build has.
. "$WS_SOURCE/tests/cmd/lib.sh"

version=$(sed -n "s/^  version: '\(.*\)',/\1/p" "$WS_SOURCE/meson.build")
for line in --version -V 'run --version' 'doctor -V'; do
	# shellcheck disable=SC2086 # words on purpose
	run wavescope $line
	rc_is 0
	out_is "wavescope $version"
	err_is_empty
done
