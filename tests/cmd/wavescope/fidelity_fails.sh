#!/bin/sh
# When the kernels of `wavescope fidelity` fail, their own words say why.
. "$WS_SOURCE/tests/cmd/lib.sh"

fake_install
kernels=$work/prefix/lib/wavescope/fidelity-kernels
cat >"$kernels" <<'K'
#!/bin/sh
echo "fidelity-kernels: the HSA runtime failed to start" >&2
exit 3
K
chmod +x "$kernels"
run wavescope fidelity --gpu mi210 --kernels known
rc_is 1
out_is_empty
err_is "fidelity-kernels: the HSA runtime failed to start
wavescope: fidelity-kernels known failed with exit code 3 on mi210"
