#!/bin/sh
# build writes a manifest, run reads it, and what is typed then is merged into it.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_softgpu
cd "$work"
export MAD_CONTAINER_ENGINE=none
unset MODEL_DIR

run madengine build --tags dummy --additional-context '{"tools": [{"name": "test_tools_A"}]}'
rc_is 0
out_has 'madengine: wrote build_manifest.json: 1 model'
run madengine run --manifest-file build_manifest.json --live-output --verbose
rc_is 0
out_has 'cmd_A'
err_has 'madengine: dummy: 1 tool, prefix: echo cmd_A &&'
err_has '"tools": [{"name": "test_tools_A"}]'
run madengine run -m build_manifest.json -l --additional-context '{"tools": [{"name": "test_tools_B"}], "debug": true}'
rc_is 0
out_has 'cmd_B'
out_lacks 'cmd_A'
"$PYTHON" - <<'END' || fail 'the manifest is wrong'
import json
m = json.load(open("build_manifest.json"))
assert m["context"]["tools"] == [{"name": "test_tools_B"}], m
assert m["deployment_config"] == {"debug": True}, m
assert m["built_models"]["ci-dummy_dummy.ubuntu.amd"]["name"] == "dummy"
assert m["built_images"].keys() == m["built_models"].keys()
assert m["summary"] == {"successful_builds": ["dummy"], "failed_builds": []}
assert m["credentials_required"] == []
END

# without the file: built from the tags
run madengine run --manifest-file none.json --tags dummy --manifest-output made.json
rc_is 0
err_has "no manifest 'none.json': building from the tags"
[ -s made.json ] || fail 'no manifest was written'

echo '[{"model_name": "dummy"}, {"model_name": "dummy_multi"}]' >batch.json
run madengine build --batch-manifest batch.json --manifest-output batch_out.json --summary-output sum.json
rc_is 0
out_has '2 models'
grep -q dummy_multi sum.json || fail 'the summary lacks a model'

# Nothing to push: that is said.
run madengine build --tags dummy --registry host:5000 --manifest-output pushed.json
rc_is 0
err_has "dummy: no Dockerfile 'docker/dummy*': nothing is pushed to host:5000, and it will run as a process"

for words in '--batch-manifest batch.json --tags dummy' '--use-image x --registry y --tags dummy' \
	'--use-image x --build-on-compute --tags dummy' '--build-on-compute --tags dummy'; do
	run madengine build $words
	rc_is 4
done
echo '{}' >bad.json
run madengine run --manifest-file bad.json
rc_is 1
err_has "bad.json: it has no object 'built_images'"
