#!/bin/sh
# Apache JMeter 5.6.3: a backslash before ${...} is taken away only where the same text has a
# reference that is evaluated. Alone it is sent with the request.
#
# Guessed, as the manual's "Functions and Variables" has it: \${name} is ${name}, as it stands.
# Seen, labels of two samplers in a plan with a variable x of value 7:
#
#   written \${name}        label \${name}
#   written ${x} \${name}   label 7 ${name}
#
# So a program that writes plans can't escape: ${__char(36)}{name} gives ${name} in both.
set -eu
# shellcheck source=findings/support/jmeter
. "$(dirname -- "$0")/support/jmeter"

x='<Arguments guiclass="ArgumentsPanel" testclass="Arguments" testname="variables"><collectionProp
 name="Arguments.arguments"><elementProp name="x" elementType="Argument"><stringProp
 name="Argument.name">x</stringProp><stringProp name="Argument.value">7</stringProp></elementProp>
</collectionProp></Arguments><hashTree/>'
# shellcheck disable=SC2016
plan "$x$(sampler '\${name}')$(sampler '${x} \${name}')$(sampler '${__char(36)}{name}')" >"$work/plan.jmx"
jmeter "$work/plan.jmx" "$work/out.csv"
labels=$(cut -d, -f3 "$work/out.csv" | tail -n +2)
echo "$labels"
# shellcheck disable=SC2016
[ "$labels" = "$(printf '%s\n' '\${name}' '7 ${name}' '${name}')" ]
