'use strict';

/** Finds and starts the Chromium that the machine has: $CHROMIUM, or the first one on PATH. */

const { accessSync, constants } = require('node:fs');
const path = require('node:path');
const { chromium } = require('playwright-core');

const NAMES = [process.env.CHROMIUM, 'chromium', 'chromium-browser', 'google-chrome'];
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-quic',
];

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function findBrowser() {
  const folders = process.env.PATH.split(path.delimiter);
  for (const name of NAMES.filter(Boolean)) {
    const found = folders.map((folder) => path.resolve(folder, name)).find(isExecutable);
    if (found) return found;
  }
  throw new Error('no Chromium on PATH; install it or set CHROMIUM to one');
}

/** A headless browser, for its user to close. Rejects where there is none. */
function launch() {
  return chromium.launch({ executablePath: findBrowser(), args: FLAGS });
}

/**
 * Writes down what goes wrong on a page from now on: seen.consoleErrors, pageErrors, failedRequests
 * and requests, each a list of lines.
 */
function listen(page, seen) {
  page.on('console', (message) => {
    if (message.type() === 'error') seen.consoleErrors.push(message.text());
  });
  page.on('pageerror', (error) => seen.pageErrors.push(String(error)));
  page.on('request', (request) => seen.requests.push(request.url()));
  page.on('requestfailed', (request) => {
    seen.failedRequests.push(`${request.url()}: ${request.failure().errorText}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) {
      seen.failedRequests.push(`${response.url()}: ${response.status()}`);
    }
  });
}

module.exports = { launch, listen };
