#!/bin/sh
# Apache JMeter 5.6.3: two Throughput Controllers of 70 and 30 percent beside each other are no
# branch. Each counts by itself, so that some turns run both and others neither.
#
# Guessed: ten turns send ten requests, seven of one and three of the other, one a turn.
# Seen: seven and three, but the fifth turn sends nothing and the sixth both:
#
#   ['browse'] ['order'] ['browse'] ['browse'] [] ['browse', 'order'] ['browse'] ['browse'] ['order']
#   ['browse']
#
# So with an arrival a turn some arrivals send nothing.
set -eu
# shellcheck source=findings/support/jmeter
. "$(dirname -- "$0")/support/jmeter"

share() { # share PERCENT NAME
  printf '%s' '<ThroughputController guiclass="ThroughputControllerGui" ' \
    'testclass="ThroughputController" testname="'"$1"'"><intProp name="ThroughputController.style">1' \
    '</intProp><boolProp name="ThroughputController.perThread">false</boolProp><FloatProperty><name>' \
    'ThroughputController.percentThroughput</name><value>'"$1"'</value><savedValue>0.0</savedValue>' \
    '</FloatProperty></ThroughputController><hashTree>' "$(sampler "$2")" '</hashTree>'
}
plan "$(sampler turn)$(share 70 browse)$(share 30 order)" 10 >"$work/plan.jmx"
jmeter "$work/plan.jmx" "$work/out.csv"
python3 - "$work/out.csv" <<'PYTHON'
import csv, sys

turns = []
for row in csv.DictReader(open(sys.argv[1])):
    if row["label"] == "turn":
        turns.append([])
    else:
        turns[-1].append(row["label"])
print(*turns, sep="\n")
sent = sum(turns, [])
assert (len(turns), sent.count("browse"), sent.count("order")) == (10, 7, 3), turns
assert sorted({len(turn) for turn in turns}) == [0, 1, 2], turns
PYTHON
