#!/bin/sh
# scripts/setup does nothing when all is there, and elsewhere prints the list.
. "$WS_SOURCE/tests/cmd/lib.sh"

# A machine where every package is installed, and apt-get must not be called.
mkdir "$work/full"
printf '#!/bin/sh\necho "install ok installed"\n' >"$work/full/dpkg-query"
printf '#!/bin/sh\necho apt-get was called >&2; exit 9\n' >"$work/full/apt-get"
chmod +x "$work/full"/*
PATH=$work/full:$PATH run sh "$WS_SOURCE/scripts/setup"
rc_is 0
out_is 'setup: everything is there'
err_is_empty

# One package is missing: it is named, the lists are refreshed, and only it is installed.
mkdir "$work/one"
cat >"$work/one/dpkg-query" <<'X'
#!/bin/sh
for last; do :; done
[ "$last" != libcmocka-dev ] || [ -e "$(dirname "$0")/done" ] || exit 1
echo "install ok installed"
X
cat >"$work/one/apt-get" <<'X'
#!/bin/sh
echo "apt-get $*"
case $1 in install) touch "$(dirname "$0")/done" ;; esac
X
printf '#!/bin/sh\n"$@"\n' >"$work/one/sudo"
chmod +x "$work/one"/*
PATH=$work/one:$PATH run sh "$WS_SOURCE/scripts/setup"
rc_is 0
out_is 'apt-get update -qq
setup: installing libcmocka-dev 
apt-get install -y -qq --no-install-recommends libcmocka-dev
setup: done'

# Of several names the first that the distribution has is installed.
mkdir "$work/later"
cat >"$work/later/dpkg-query" <<'X'
#!/bin/sh
for last; do :; done
case $last in lld-15) exit 1 ;; lld-17) [ -e "$(dirname "$0")/done" ] || exit 1 ;; esac
echo "install ok installed"
X
printf '#!/bin/sh\n[ "$2" != lld-15 ]\n' >"$work/later/apt-cache"
cp "$work/one/apt-get" "$work/one/sudo" "$work/later"
chmod +x "$work/later"/*
PATH=$work/later:$PATH run sh "$WS_SOURCE/scripts/setup"
rc_is 0
out_has "apt-get install -y -qq --no-install-recommends lld-17"

# What only tests use is installed for them, and can be done without.
mkdir "$work/tests"
cat >"$work/tests/dpkg-query" <<'X'
#!/bin/sh
for last; do :; done
[ "$last" != chromium ] || exit 1
echo "install ok installed"
X
printf '#!/bin/sh\necho "apt-get $*"\n[ "$1" != install ]\n' >"$work/tests/apt-get"
printf '#!/bin/sh\n"$@"\n' >"$work/tests/sudo"
chmod +x "$work/tests"/*
PATH=$work/tests:$PATH run sh "$WS_SOURCE/scripts/setup"
rc_is 0
out_is 'setup: everything is there'
cd "$work"
PATH=$work/tests:$PATH run sh "$WS_SOURCE/scripts/setup" test
rc_is 0
out_has "apt-get install -y -qq --no-install-recommends chromium"
err_has "could not install: chromium"
PATH=$work/tests:$PATH run sh "$WS_SOURCE/scripts/setup" nonsense
rc_is 2
err_has "build, test and bench are"

# One that the build needs cannot be had.
sed -i 's/chromium/libyaml-dev/' "$work/tests/dpkg-query"
PATH=$work/tests:$PATH run sh "$WS_SOURCE/scripts/setup" test
rc_is 1
err_has "could not install: libyaml-dev"

# Not Debian: a bare PATH with only what the script itself uses.
mkdir "$work/bare"
for tool in sh sed id echo cat; do
	ln -s "$(command -v "$tool")" "$work/bare/$tool"
done
run env "PATH=$work/bare" "$(command -v sh)" "$WS_SOURCE/scripts/setup"
rc_is 1
out_has 'please install these yourself'
out_has 'the interface that the software GPU implements'
