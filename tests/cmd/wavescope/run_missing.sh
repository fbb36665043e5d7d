#!/bin/sh
# A program that cannot be started: one clear line, and the codes that shells use.
. "$WS_SOURCE/tests/cmd/lib.sh"
fake_install

run wavescope run -- no-such-program
rc_is 127
err_is "wavescope: no program 'no-such-program' on PATH: check the name"

run wavescope run -- ./no/such
rc_is 127
err_is "wavescope: no program './no/such': check the path"

cd "$work"
printf '#!/bin/sh\n' >plain
run wavescope run -- ./plain
rc_is 126
err_is "wavescope: './plain' cannot be executed: check its permissions"

run wavescope run -- .
rc_is 127
run wavescope run -- ./
rc_is 126

printf '#!/no/such/interpreter\n' >script
chmod +x script
run wavescope run -- ./script
rc_is 126
err_is "wavescope: cannot run './script': its interpreter is missing"

run wavescope run -- script
rc_is 127
err_is "wavescope: no program 'script' on PATH: did you mean './script'?"

# Without a first line it is a shell script, as every shell has it.
echo 'echo plain $1' >old
chmod +x old
run wavescope run -- ./old one
rc_is 0
out_is 'plain one'
