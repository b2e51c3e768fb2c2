'use strict';

/**
 * Opens pages (URL|FILE... with OPTIONS) in headless Chromium and prints, as one line of JSON a
 * page, what went wrong on it: { title, consoleErrors, pageErrors, failedRequests }, the last three
 * as lists of lines; and what is to be seen: { requests, text, tooWide, firstFold, colours,
 * drawnAfter }.
 *
 * Without arguments it reads them from standard input, a JSON array a line, until that ends, and
 * answers each with a line: { seen: [...] }, or { error }. The browser is started once.
 */

const { existsSync } = require('node:fs');
const path = require('node:path');
const { createInterface } = require('node:readline');
const { pathToFileURL } = require('node:url');
const { parseArgs } = require('node:util');
const { launch, listen } = require('../../../scripts/dev/pictures/browser');

// press: KEY@SELECTOR. offline: refuse every request that leaves this machine.
const OPTIONS = {
  screenshot: { type: 'string' },
  'full-page': { type: 'boolean', default: false },
  viewport: { type: 'string', default: '1280x800' },
  'colour-scheme': { type: 'string', default: 'light' },
  offline: { type: 'boolean', default: false },
  click: { type: 'string', multiple: true, default: [] },
  press: { type: 'string', multiple: true, default: [] },
};

/**
 * requests: what was asked for, the page first. text: what can be read. tooWide: pixels by which the
 * page is wider than its window. firstFold: pixels from the top to the first summary. colours: of each canvas, how many pixels have each opaque colour.
 * drawnAfter: milliseconds from the start of the navigation until the page's charts were drawn, for
 * pages that tell.
 */
function what() {
  function coloursOf(canvas) {
    if (canvas.width * canvas.height === 0) return {};
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const found = {};
    for (let at = 0; at < data.length; at += 4) {
      const colour = data.slice(at, at + 3).join(',');
      if (data[at + 3] === 255) found[colour] = (found[colour] ?? 0) + 1;
    }
    return found;
  }
  const root = document.documentElement;
  return {
    text: document.body.innerText,
    tooWide: root.scrollWidth - root.clientWidth,
    firstFold: document.querySelector('summary')?.getBoundingClientRect().top,
    colours: [...document.querySelectorAll('canvas')].map(coloursOf),
    drawnAfter: performance.getEntriesByName('charts drawn')[0]?.startTime,
  };
}

function staysHere(url) {
  return ['file:', 'data:', 'blob:'].includes(url.protocol) || url.hostname === '127.0.0.1';
}

async function look(browser, url, options) {
  const [width, height] = options.viewport.split('x').map(Number);
  const colorScheme = options['colour-scheme'];
  const page = await browser.newPage({ viewport: { width, height }, colorScheme });
  if (options.offline) {
    await page.route(
      (target) => !staysHere(target),
      (route) => route.abort(),
    );
  }
  const seen = { title: '', consoleErrors: [], pageErrors: [], failedRequests: [], requests: [] };
  listen(page, seen);
  await page.goto(url, { waitUntil: 'networkidle' });
  seen.title = await page.title();
  for (const selector of options.click) await page.click(selector);
  for (const [key, selector] of options.press.map((each) => each.split('@'))) {
    await page.press(selector, key);
  }
  Object.assign(seen, await page.evaluate(what));
  if (options.screenshot) {
    await page.screenshot({ path: options.screenshot, fullPage: options['full-page'] });
  }
  await page.close();
  return seen;
}

function lookAtAll(browser, args) {
  const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  const urlOf = (it) => (existsSync(it) ? pathToFileURL(path.resolve(it)).href : it);
  return Promise.all(positionals.map((target) => look(browser, urlOf(target), values)));
}

async function serve(browser) {
  for await (const line of createInterface({ input: process.stdin })) {
    const answer = await lookAtAll(browser, JSON.parse(line)).then(
      (seen) => ({ seen }),
      (error) => ({ error: error.message }),
    );
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
}

async function main() {
  const args = process.argv.slice(2);
  const browser = await launch();
  try {
    if (args.length === 0) return await serve(browser);
    for (const page of await lookAtAll(browser, args)) {
      process.stdout.write(`${JSON.stringify(page)}\n`);
    }
  } finally {
    await browser.close();
  }
}

main().catch((error) => {
  process.stderr.write(`open-page: ${error.message}\n`);
  process.exitCode = 1;
});
