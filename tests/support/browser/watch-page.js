'use strict';

/**
 * Keeps a page open in headless Chromium: URL WIDTH SCHEME. Each line of standard input is a
 * command, answered with a line of JSON:
 *
 *   until TEXT   waits until the page shows it; { text }
 *   reload       loads the page anew; {}
 *   focus SELECTOR   moves the focus there; {}
 *   axe          { violations, passes } of axe-core's rules of accessibility: the first place of
 *                each that is violated, and how many hold
 *   look         { title, text, tooWide, markup, focused, stale, heap, problems }
 *
 * markup: scripts and images that stand in the content. focused: the label of what has the focus.
 * heap: bytes of JavaScript's, once its garbage is gone.
 */

const { createInterface } = require('node:readline');
const { source: axe } = require('axe-core');
const { launch, listen } = require('../../../scripts/dev/pictures/browser');

const PATIENCE_MS = 30_000;

function what() {
  const root = document.documentElement;
  return {
    title: document.title,
    text: document.body.innerText,
    tooWide: root.scrollWidth - root.clientWidth,
    markup: document.querySelectorAll('main script, main img').length,
    focused: document.activeElement.getAttribute('aria-label'),
    stale: document.body.classList.contains('stale'),
  };
}

const COMMANDS = {
  async until(page, text) {
    const shown = (wanted) => document.body.innerText.includes(wanted);
    await page.waitForFunction(shown, text, { timeout: PATIENCE_MS });
    return { text };
  },
  async reload(page) {
    await page.reload();
    return {};
  },
  async focus(page, selector) {
    await page.focus(selector);
    return {};
  },
  async axe(page) {
    await page.evaluate(axe);
    const { violations, passes } = await page.evaluate('axe.run()');
    const places = violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`);
    return { violations: places, passes: passes.length };
  },
  async look(page, _, seen) {
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('HeapProfiler.collectGarbage');
    const { usedSize: heap } = await devtools.send('Runtime.getHeapUsage');
    const problems = [...seen.consoleErrors, ...seen.pageErrors];
    return { ...(await page.evaluate(what)), heap, problems };
  },
};

async function main() {
  const [url, width, colorScheme] = process.argv.slice(2);
  const browser = await launch();
  try {
    const viewport = { width: Number(width), height: 900 };
    const page = await browser.newPage({ viewport, colorScheme });
    const seen = { consoleErrors: [], pageErrors: [], failedRequests: [], requests: [] };
    listen(page, seen);
    await page.goto(url);
    for await (const line of createInterface({ input: process.stdin })) {
      const [, name, rest] = line.match(/^(\w+) ?(.*)$/);
      const answer = await COMMANDS[name](page, rest, seen);
      process.stdout.write(`${JSON.stringify(answer)}\n`);
    }
  } finally {
    await browser.close();
  }
}

main().catch((error) => {
  process.stderr.write(`watch-page: ${error.message}\n`);
  process.exitCode = 1;
});
