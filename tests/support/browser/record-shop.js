'use strict';

/**
 * Records a visit to the shop (URL) in headless Chromium, through its DevTools protocol, as a HAR
 * (FILE): a catalogue, a login, an item into the cart, an order, and a request to another host.
 */

const { launch } = require('../../../scripts/dev/pictures/browser');

const PAUSE_MS = 1_100;

/** Runs in the page: asks the shop as its own code would. */
async function visit({ other, pauseMs }) {
  async function ask(path, body) {
    const json = { method: 'POST', headers: { 'Content-Type': 'application/json' } };
    const answer = await fetch(path, body ? { ...json, body: JSON.stringify(body) } : {});
    return answer.json();
  }
  function pause() {
    return new Promise((resolve) => {
      setTimeout(resolve, pauseMs);
    });
  }
  await fetch(other, { mode: 'no-cors' }).catch(() => {});
  await ask('/login', { visitor: 'ann', password: 'planted-S3CRET' });
  await pause();
  const { items } = await ask('/items?page=3');
  const { id } = await ask(`/items/${items[7].id}`);
  await fetch(`/cart/${id}`, { method: 'POST' });
  await ask('/cart');
  await pause();
  await ask('/orders', { item: id });
}

async function record(url, file) {
  const browser = await launch();
  try {
    const context = await browser.newContext({ recordHar: { path: file, content: 'embed' } });
    const page = await context.newPage();
    await page.goto(`${url}/items?page=0`);
    await page.evaluate(visit, { other: url.replace('127.0.0.1', 'localhost'), pauseMs: PAUSE_MS });
    await context.close();
  } finally {
    await browser.close();
  }
}

const [url, file] = process.argv.slice(2);
record(url, file);
