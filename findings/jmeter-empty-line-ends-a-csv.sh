#!/bin/sh
# Apache JMeter 5.6.3, CSV Data Set Config without "Allow quoted data": an empty line within a file
# is its end for the turn that meets it, and the next turn reads on behind it.
#
# Guessed: an empty line is skipped, or gives an empty value. Seen, labels "buy ${item}" of the file
# with the lines apple, (empty), pear, not recycled, threads go on at its end:
#
#   buy apple, buy <EOF>, buy pear, buy <EOF>
#
# With "Stop thread on EOF" the load ends at the empty line.
set -eu
# shellcheck source=findings/support/jmeter
. "$(dirname -- "$0")/support/jmeter"

printf 'apple\n\npear\n' >"$work/items.csv"
feed='<CSVDataSet guiclass="TestBeanGUI" testclass="CSVDataSet" testname="items"><stringProp
 name="filename">items.csv</stringProp><stringProp name="variableNames">item</stringProp><stringProp
 name="delimiter">,</stringProp><boolProp name="ignoreFirstLine">false</boolProp><boolProp
 name="quotedData">false</boolProp><boolProp name="recycle">false</boolProp><boolProp
 name="stopThread">false</boolProp><stringProp name="shareMode">shareMode.all</stringProp>
</CSVDataSet><hashTree/>'
# shellcheck disable=SC2016
plan "$feed$(sampler 'buy ${item}')" 4 >"$work/plan.jmx"
jmeter "$work/plan.jmx" "$work/out.csv"
labels=$(cut -d, -f3 "$work/out.csv" | tail -n +2)
echo "$labels"
[ "$labels" = "$(printf 'buy %s\n' apple '<EOF>' pear '<EOF>')" ]
