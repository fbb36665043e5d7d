#!/bin/sh
# perf.csv as pages, and as what a database would get.
. "$WS_SOURCE/tests/cmd/lib.sh"
cd "$work"
printf 'model,performance,status\n"a<b>",1,SUCCESS\n"c,d",2,FAILURE\n' >perf.csv

run madengine report to-html --csv-file-path perf.csv
rc_is 0
out_is 'madengine: wrote perf.html'
"$PYTHON" - <<'END' || fail 'perf.html is wrong'
from html.parser import HTMLParser
class Cells(HTMLParser):
    cells, inside = [], False
    def handle_starttag(self, tag, attrs):
        self.inside = tag in ("td", "th")
    def handle_endtag(self, tag):
        self.inside = False
    def handle_data(self, data):
        if self.inside:
            self.cells.append(data)
p = Cells(convert_charrefs=True)
p.feed(open("perf.html").read())
assert p.cells == ["model", "performance", "status", "a<b>", "1", "SUCCESS", "c,d", "2", "FAILURE"], p.cells
END

mkdir more
cp perf.csv more/one.csv
cp perf.csv more/two.csv
run madengine report to-email --dir more
rc_is 0
is "$(grep -c '<table>' run_results.html)" 2
run madengine report to-email --directory none
rc_is 1
run madengine report to-html
rc_is 4
err_has '--csv-file-path is missing'
run madengine report to-html --csv-file-path none.csv
rc_is 1

run madengine database --file perf.csv --db results --collection runs -k model --dry-run
rc_is 0
out_has "2 results for collection 'runs' of database 'results' at localhost:27017, replaced by model:"
sed 1d "$out" | "$PYTHON" -c 'import json, sys; assert json.load(sys.stdin)[0]["model"] == "a<b>"' || fail 'no JSON'
run madengine database --file perf.csv
rc_is 1
err_is "madengine: uploading to MongoDB is not supported: --dry-run prints what would be sent, for mongoimport"
run madengine --version
rc_is 0
out_has wavescope
