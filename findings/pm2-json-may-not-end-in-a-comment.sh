#!/bin/sh
# PM2 7.0.4: an ecosystem.json may hold comments, but not end in one of // without a line break.
#
# Guessed: a comment is taken anywhere, or nowhere. Seen, of {"apps": [...]} with each end:
#
#   ' /* the end */'   apps
#   ' // the end\n'    apps
#   ' // the end'      SyntaxError: Unexpected end of input
#
# PM2 evaluates the file as JavaScript between "(" and ")", and the comment takes the ")" away.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$work" pm2@7.0.4

cat >read.js <<'JS'
const assert = require('node:assert');
const { parseConfig } = require('pm2/lib/Common.js');

const read = (end) => {
  const text = `{"apps": [{"name": "shop", "script": "shop.js"}]}${end}`;
  try {
    return Object.keys(parseConfig(text, 'ecosystem.json')).join();
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
};
const seen = [' /* the end */', ' // the end\n', ' // the end'].map(read);
console.log(seen);
assert.deepEqual(seen, ['apps', 'apps', 'SyntaxError: Unexpected end of input']);
JS
node read.js
