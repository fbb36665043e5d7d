#!/bin/sh
# Each mistake is one clear error with the right exit code, and what was recorded is kept.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_softgpu
cd "$work"
unset MODEL_DIR
export MAD_CONTAINER_ENGINE=none
mkdir -p scripts/m
model() { # NAME MORE: the script comes from stdin
	cat >"scripts/m/$1.sh"
	models="${models:+$models, }{\"name\": \"$1\", \"scripts\": \"scripts/m/$1.sh\"${2:-}}"
	echo "[$models]" >models.json
}
model good <<'END'
echo "performance: 1 x"
END
model fails <<'END'
echo "half done" >part_output.csv
echo "performance: 1 x"
exit 7
END
model silent <<'END'
echo "nothing to say"
END
model errors <<'END'
echo "performance: 1 x"
echo "RuntimeError: it broke"
END
model slow ', "timeout": 1' <<'END'
echo "half done" >slow_output.csv
sleep 60
END

ends() { # CODE MESSAGE WORDS...
	code=$1 message=$2
	shift 2
	run madengine run "$@"
	rc_is "$code"
	err_has "$message"
}
one_line() { is "$(grep -vc -e 'no GPU here' -e 'the log is' "$err")" 1 'messages'; }

# the command line and the context: 4
ends 4 'nothing to run: give --tags'
ends 4 "no model has the name or tag 'goood': did you mean 'good'?" --tags goood
one_line
ends 4 '--additional-context:1: invalid JSON' --tags good -c '{"tools": ['
one_line
ends 4 "context key 'tools' must be a list" --tags good -c '{"tools": "rocprof"}'
ends 4 "no context file 'none.json'" --tags good -f none.json
ends 4 '--timeout -2' --tags good --timeout -2
ends 4 "unknown option" --tags good --no-such-option
ends 4 'both slurm and k8s' --tags good -c '{"slurm": {}, "k8s": {}}'
[ ! -e perf.csv ] || fail 'perf.csv of runs that were none'
ends 4 "no manifest 'm.json', and no --tags" --manifest-file m.json

# models that fail: 3, with a row, and the next model runs
ends 3 "fails: FAILURE: the model ended with exit code 7" --tags fails,good
out_has 'good: SUCCESS'
is "$(sed 1d perf.csv | cut -d, -f1,21)" 'good,SUCCESS
fails,FAILURE'
is "$(cat part_output.csv)" 'half done' 'partial output'
ends 3 "silent: FAILURE: the log has no line 'performance: NUMBER METRIC'" --tags silent
ends 3 "errors: FAILURE: the log has 'RuntimeError:': RuntimeError: it broke" --tags errors
run madengine run --tags errors -c '{"log_error_benign_patterns": ["it broke"]}'
rc_is 0
ends 3 'slow: FAILURE: the model took longer than 1 s: --timeout sets the limit' --tags slow
is "$(cat slow_output.csv)" 'half done' 'partial output'
ends 3 'slow: FAILURE: the model took longer than 2 s' --tags slow --timeout 2
ends 3 'pre script pre.sh: there is no such file' --tags good -c '{"pre_scripts": [{"path": "pre.sh"}]}'
echo 'exit 4' >post.sh
ends 3 'good: FAILURE: post script post.sh ended with exit code 4' --tags good -c '{"post_scripts": [{"path": "post.sh"}]}'
ends 3 'n_gpus asks for 99 GPUs' --tags good -c '{"docker_gpus": "0", "n_gpus": 99}'
ends 3 "good: FAILURE: tools[0]: no tool 'rocprofv4': did you mean 'rocprofv3'?" --tags good -c '{"tools": [{"name": "rocprofv4"}]}'
is "$(tail -1 perf.csv | cut -d, -f1,21)" good,FAILURE

wrapper='bash ../scripts/common/tools/rocprof_wrapper.sh'
ends 3 "good: FAILURE: tools[0].cmd: no '--' at the end" \
	--tags good -c "{'tools': [{'name': 'rocprof', 'cmd': '$wrapper --sys-trace'}]}"
ends 3 "rocprofv3: cannot open 'none.txt'" \
	--tags good -c "{'tools': [{'name': 'rocprof', 'cmd': '$wrapper -i none.txt --'}]}"

# a table that the result cannot be added to is found before the model runs
echo name,value >other.csv
ends 1 "other.csv has no column 'model': move it away" --tags slow --output other.csv
is "$(cat other.csv)" name,value

# a model without a program to profile: the tool recorded nothing, and that is a failure
ends 3 'good: FAILURE: ' --tags good -c '{"tools": [{"name": "rocprofv3_lightweight"}]}'
err_has 'recorded nothing'

# another run in this folder; scripts of the user are untouched by all of this
is "$(ls scripts)" m 'scripts/'
[ ! -e run_directory ] || fail 'the run folder is left'

# interrupted: the model ends, nothing is left, no further model runs
cat >scripts/m/slow.sh <<'END'
echo started >../started
sleep 60
END
setsid madengine run --tags slow,good --timeout 50 >"$out" 2>"$err" &
pid=$!
i=0
while [ ! -e started ] && [ $i -lt 300 ]; do sleep 0.1; i=$((i + 1)); done
run madengine run --tags good
rc_is 1
err_has 'another madengine runs in this folder'
kill -TERM $pid
rc=0
wait $pid || rc=$?
shown='the interrupted run'
rc_is 1
[ ! -e run_directory ] && [ "$(ls scripts)" = m ] || fail 'an interrupted run leaves its files'
