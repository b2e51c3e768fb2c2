'use strict';

const http = require('node:http');
const net = require('node:net');
const { drainOnSignals } = require('./drain');
const { SettingError } = require('./setting-kinds');
const { reportVitals } = require('./vitals');

// Longer than any think time, so that it is the client who ends a connection: a server that ends
// one just as it is used again makes a failed request.
const KEEP_ALIVE_MS = 65_000;

const HINTS = {
  EADDRINUSE: 'the port is in use; end what holds it or set PORT to another one',
  EACCES: 'not permitted; set PORT to 1024 or above',
  EADDRNOTAVAIL: 'not an address of this machine; set HOST to one that is',
  ENOTFOUND: 'no such host; set HOST to an address of this machine',
};

/**
 * Runs an application as this process's only listener: tells PM2 when it is ready, drains on
 * signals, and ends with one line and exit code 1 when it cannot begin.
 *
 * @param {(env: object) => { host: string, port: number }} readSettings may throw a SettingError
 * @param {(settings: object) => import('node:http').RequestListener |
 *   Promise<import('node:http').RequestListener>} createApp
 */
async function run(readSettings, createApp) {
  try {
    const settings = readSettings(process.env);
    listen(settings, await createApp(settings));
  } catch (error) {
    if (!(error instanceof SettingError)) throw error;
    fail(error.message);
  }
}

function listen({ host, port }, app) {
  const server = http.createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, app);
  drainOnSignals(server);
  server.once('error', ({ code, message }) => {
    fail(`cannot listen on ${host}:${port}: ${HINTS[code] ?? message} (${code})`);
  });
  server.listen({ host, port }, () => {
    console.log(`listening on ${url(server.address())}`);
    process.send?.('ready');
    reportVitals(server);
  });
}

/** Says why in one line and exits 1, but not before the line is written: PM2 writes it later. */
function fail(reason) {
  process.stderr.write(`tollgate: ${reason}\n`, 'utf8', () => process.exit(1));
}

function url({ address, port }) {
  return `http://${net.isIPv6(address) ? `[${address}]` : address}:${port}`;
}

module.exports = { run };
