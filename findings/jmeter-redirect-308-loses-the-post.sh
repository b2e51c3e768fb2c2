#!/bin/sh
# Apache JMeter 5.6.3, "Follow Redirects", a POST: a 308 is followed by a GET without the body, a
# 307 is not followed at all, and both samples succeed.
#
# Guessed: as RFC 9110 (15.4.8, 15.4.9) and browsers do, the POST is sent again with its body.
# Seen, methods that the server got and the samples' results:
#
#   307: POST /307                 response code 307, success true
#   308: POST /308, GET /target    response code 200, success true
set -eu
# shellcheck source=findings/support/jmeter
. "$(dirname -- "$0")/support/jmeter"

cat >"$work/server.py" <<'PYTHON'
import http.server, sys


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        print(self.command, self.path, len(body), flush=True)
        status = self.path.strip("/")
        self.send_response(int(status) if status.isdigit() else 200)
        if status.isdigit():
            self.send_header("Location", "/target")
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_POST

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Answer)
print(server.server_port, file=sys.stderr, flush=True)
server.serve_forever()
PYTHON
python3 "$work/server.py" >"$work/got" 2>"$work/port" &
server=$!
trap 'kill "$server" 2>/dev/null || :; rm -rf "$work"' EXIT
until [ -s "$work/port" ]; do sleep 0.1; done

post() { # post STATUS
  printf '%s' '<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="' \
    "$1" '"><boolProp name="HTTPSampler.postBodyRaw">true</boolProp><elementProp ' \
    'name="HTTPsampler.Arguments" elementType="Arguments"><collectionProp name="Arguments.arguments">' \
    '<elementProp name="" elementType="HTTPArgument"><boolProp name="HTTPArgument.always_encode">false' \
    '</boolProp><stringProp name="Argument.value">item=7</stringProp><stringProp ' \
    'name="Argument.metadata">=</stringProp></elementProp></collectionProp></elementProp>' \
    '<stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">' \
    "$(cat "$work/port")" '</stringProp><stringProp name="HTTPSampler.path">/' "$1" '</stringProp>' \
    '<stringProp name="HTTPSampler.method">POST</stringProp><boolProp ' \
    'name="HTTPSampler.follow_redirects">true</boolProp></HTTPSamplerProxy><hashTree/>'
}
plan "$(post 307)$(post 308)" >"$work/plan.jmx"
jmeter "$work/plan.jmx" "$work/out.csv" -Jjmeter.save.saveservice.subresults=false
cat "$work/got" "$work/out.csv"
python3 - "$work/got" "$work/out.csv" <<'PYTHON'
import csv, sys

got = open(sys.argv[1]).read().splitlines()
assert got == ["POST /307 6", "POST /308 6", "GET /target 0"], got
rows = [(r["label"], r["responseCode"], r["success"]) for r in csv.DictReader(open(sys.argv[2]))]
assert rows == [("307", "307", "true"), ("308", "200", "true")], rows
PYTHON
