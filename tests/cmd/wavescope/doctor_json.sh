#!/bin/sh
# --json is JSON, and agrees with the text.
. "$WS_SOURCE/tests/cmd/lib.sh"

# A compiler that takes no time: what is compared here does not depend on it.
mkdir "$work/quick"
printf '#!/bin/sh\necho HIP version: 5.2\n' >"$work/quick/hipcc"
chmod +x "$work/quick/hipcc"
PATH=$work/quick:$PATH
run wavescope doctor
cp "$out" "$work/text"
first=$rc
run wavescope doctor --json
rc_is "$first"
err_is_empty
"${PYTHON:-python3}" - "$out" "$work/text" <<'PY' || fail "text and JSON differ"
import json, re, sys
report = json.load(open(sys.argv[1]))
text = open(sys.argv[2]).read()
assert report["system"] and len(report["facts"]) >= 15 and len(report["features"]) >= 10
assert report["counters_at_once"]["gfx90a"]["SQ"] == 8 or not report["features"][0]["works"], report
for feature in report["features"]:
    line = re.search(r"^  (yes|no) +" + re.escape(feature["name"]), text, re.M)
    assert line, feature
    assert (line.group(1) == "yes") == feature["works"] == (not feature["lacks"]), feature
    names = {fact["name"] for fact in report["facts"] if not fact["yes"]}
    assert set(feature["lacks"]) <= names, feature
PY
