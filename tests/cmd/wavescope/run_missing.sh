#!/bin/sh
# A program that cannot be started: one clear line, and the codes that shells use.
. "$WS_SOURCE/tests/cmd/lib.sh"
fake_install

run wavescope run -- no-such-program
rc_is 127
err_is "wavescope: program 'no-such-program' not found in PATH: check the name"

run wavescope run -- ./no/such
rc_is 127
err_is "wavescope: program './no/such' not found: check the path"

cd "$work"
printf '#!/bin/sh\n' >plain
run wavescope run -- ./plain
rc_is 126
err_is "wavescope: './plain' cannot be executed: check its permissions"

run wavescope run -- .
rc_is 127
run wavescope run -- ./
rc_is 126
err_is "wavescope: './' is a folder, not a program"

printf '#!/no/such/interpreter\n' >no-line
chmod +x no-line
run wavescope run -- ./no-line
rc_is 126
err_is "wavescope: cannot run './no-line': interpreter '/no/such/interpreter' not found: correct the first line of the script"

printf '#!/bin/sh\r\n' >windows
chmod +x windows
run wavescope run -- ./windows
rc_is 126
err_is "wavescope: cannot run './windows': the script has Windows line endings: convert them to LF"

run wavescope run -- no-line
rc_is 127
err_is "wavescope: program 'no-line' not found in PATH: did you mean './no-line'?"

# Without a first line it is a shell script, as every shell has it.
echo 'echo plain $1' >old
chmod +x old
run wavescope run -- ./old one
rc_is 0
out_is 'plain one'
