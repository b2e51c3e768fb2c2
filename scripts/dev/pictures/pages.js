'use strict';

/**
 * Takes pictures of pages in headless Chromium, and prints the name of each.
 *
 *   node scripts/dev/pictures/pages.js PAGE=PICTURE...
 *     PICTURE-1400-light.png, -390-light.png, -1400-dark.png, -390-dark.png, each of all of the page
 *   node scripts/dev/pictures/pages.js --top 900 PAGE=PICTURE...
 *     PICTURE.png: light, of the 900 pixels at the top, with a palette, for a README
 *     PAGE: a file, or the address of a live page
 *
 * Ends with 1 and a line that says why where a page has an error, asks for something that is not
 * there, is wider than its window, or shows nothing at its top.
 */

const { existsSync, writeFileSync } = require('node:fs');
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const { parseArgs } = require('node:util');
const { launch, listen } = require('./browser');
const { counts } = require('./palette');
const { decode } = require('./png');
const { shrunk } = require('./shrink');

const [WIDE, NARROW] = [1400, 390];
const HEIGHT = 900;
/** Fewer colours than even an empty page with its text has. */
const BLANK = 8;
/** In milliseconds: a live page has its first figures within two seconds. */
const FIGURES = 4000;

function views(top) {
  if (top) return [{ width: WIDE, height: Number(top), scheme: 'light', suffix: '', top: true }];
  return ['light', 'dark'].flatMap((scheme) =>
    [WIDE, NARROW].map((width) => ({
      ...{ width, height: HEIGHT, scheme },
      suffix: `-${width}-${scheme}`,
    })),
  );
}

function problemOf(seen, tooWide, file) {
  const [line] = [...seen.pageErrors, ...seen.consoleErrors, ...seen.failedRequests];
  if (line) return line;
  if (tooWide > 0) return `it is ${tooWide} px wider than its window`;
  return counts(decode(file, HEIGHT).pixels).size < BLANK ? 'there is nothing to be seen' : null;
}

async function take(browser, target, view) {
  const { width, height, scheme } = view;
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: scheme });
  const seen = { consoleErrors: [], pageErrors: [], failedRequests: [], requests: [] };
  listen(page, seen);
  if (isAddress(target)) {
    await page.goto(target);
    await page.waitForTimeout(FIGURES); // its stream of events never ends
  } else await page.goto(pathToFileURL(path.resolve(target)).href, { waitUntil: 'networkidle' });
  const tooWide = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return scrollWidth - clientWidth;
  });
  const file = await page.screenshot({ fullPage: !view.top });
  await page.close();
  const problem = problemOf(seen, tooWide, file);
  if (problem) throw new Error(`${target} at ${width} px, ${scheme}: ${problem}`);
  return view.top ? shrunk(file) : file;
}

const isAddress = (target) => target.startsWith('http://');

/** PAGE and PICTURE of an argument; either may have a = in its name, and the page is there. */
function parts(argument) {
  const cuts = [...argument.matchAll(/=/g)].map(({ index }) => index);
  const at = cuts.findLast((it) => existsSync(argument.slice(0, it))) ?? cuts.at(-1);
  return [argument.slice(0, at), argument.slice(at + 1)];
}

async function main() {
  const options = { top: { type: 'string' } };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const browser = await launch();
  try {
    for (const each of positionals) {
      const [target, picture] = parts(each);
      if (!isAddress(target) && !existsSync(target)) throw new Error(`there is no page ${target}`);
      for (const view of views(values.top)) {
        const name = `${picture}${view.suffix}.png`;
        writeFileSync(name, await take(browser, target, view));
        process.stdout.write(`${name}\n`);
      }
    }
  } finally {
    await browser.close();
  }
}

main().catch((error) => {
  process.stderr.write(`screenshots: ${error.message.split('\n')[0]}\n`);
  process.exitCode = 1;
});
