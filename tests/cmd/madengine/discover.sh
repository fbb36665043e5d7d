#!/bin/sh
# Definitions in the root, in scopes as JSON and as Python; selection by name, tag and scope.
. "$WS_SOURCE/tests/cmd/lib.sh"
cd "$work"
mkdir -p scripts/two scripts/three
cat >models.json <<'END'
[{"name": "a", "scripts": "s/a.sh", "tags": ["red", "big"]},
 {"name": "b", "scripts": "s/b.sh", "tags": ["red"]}]
END
echo '[{"name": "c", "scripts": "run.sh", "tags": ["red"]}]' >scripts/two/models.json
run madengine discover
rc_is 0
out_is "a      red, big
b      red
two/c  red"

selects() { # TAGS NAMES
	run madengine discover --tags $1
	rc_is 0
	is "$(awk '{ print $1 }' "$out" | tr '\n' ' ')" "$2 " "--tags $1"
}
selects red 'a b two/c'
selects a,two/all 'a two/c'
selects 'b big' 'a b'
selects two:c two/c

run madengine discover --tags bigg
rc_is 4
err_is "madengine: no model has the name or tag 'bigg': did you mean 'big'? 'madengine discover' lists them"

# from Python
cat >scripts/three/get_models_json.py <<'END'
try:
    from madengine.utils.discover_models import CustomModel
except ImportError:
    from madengine.tools.discover_models import CustomModel

print("this is no JSON")

class Mine(CustomModel):
    def update_model(self):
        self.args = "--late"

def list_models():
    return [Mine(name="d", scripts="run.sh", tags=["blue"]), CustomModel(name="e", scripts="x.py")]
END

selects 'blue three/e' 'three/d three/e'
run madengine discover -v --tags three/d:batch=8
rc_is 0
"$PYTHON" - "$out" <<'END' || fail "the definitions are wrong"
import json, sys
model, = json.load(open(sys.argv[1]))
assert model["name"] == "three/d", model
assert model["args"] == "--late --batch 8", model
assert model["scripts"] == "scripts/three/run.sh", model
END

# an error of the user's Python is one line that says how to see it all
echo 'raise ValueError("broken")' >scripts/three/get_models_json.py
run madengine discover
rc_is 1
err_has 'scripts/three/get_models_json.py: python3 ended with 1'

# another folder; and the samples where there are no models
mkdir "$work/empty"
cd "$work/empty"
MODEL_DIR=$work/nowhere run madengine discover
rc_is 4
err_has "MODEL_DIR is '$work/nowhere'"
rm "$work/scripts/three/get_models_json.py"
MODEL_DIR=$work run madengine discover --tags big
rc_is 0
out_is 'a  red, big'
run madengine discover --tags pyt_vllm_llama2_7b,dummy_prof
rc_is 0
err_has 'no models.json here: using the sample models of'
is "$(awk '{ print $1 }' "$out" | tr '\n' ' ')" 'dummy_prof compute_bound '
is "$(ls -A)" '' 'the folder'
