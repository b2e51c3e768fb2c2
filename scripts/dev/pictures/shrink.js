'use strict';

/** Gives the PNGs named on the command line a palette of at most 256 colours, in their place. */

const { readFileSync, renameSync, writeFileSync } = require('node:fs');
const { reduce } = require('./palette');
const { decode, encode } = require('./png');

/** The bytes of the same picture with a palette. */
function shrunk(file) {
  return encode(reduce(decode(file)));
}

function shrink(name) {
  writeFileSync(`${name}.part`, shrunk(readFileSync(name)));
  renameSync(`${name}.part`, name);
}

if (require.main === module) process.argv.slice(2).forEach(shrink);

module.exports = { shrunk };
