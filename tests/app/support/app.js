'use strict';

const http = require('node:http');
const { once } = require('node:events');
const { createApp } = require('../../../app/app');
const { readSettings } = require('../../../app/settings');

/**
 * Serves an application in this process, on a port of the system's choosing, until the test ends.
 *
 * @param {import('node:test').TestContext} t
 * @param {Record<string, string>} [env] settings, as the environment would give them
 * @param {object} [options] for createApp()
 * @returns {Promise<(path: string, init?: RequestInit) => Promise<Response>>}
 */
async function serve(t, env = {}, options = {}) {
  const server = http.createServer(createApp({ settings: readSettings(env), ...options }));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const base = `http://127.0.0.1:${server.address().port}`;
  return (path, init) => fetch(base + path, init);
}

/** Keeps what the application tells on stderr out of the test's output, and gives it back. */
function hearErrors(t) {
  const heard = t.mock.method(console, 'error', () => {});
  return () => heard.mock.calls.map(({ arguments: told }) => told.map(describe).join(' '));
}

function describe(value) {
  return value instanceof Error ? value.stack : String(value);
}

/** The durations of a Server-Timing header, in milliseconds. */
function timing(response) {
  const entries = response.headers.get('server-timing').split(', ');
  return Object.fromEntries(
    entries.map((entry) => {
      const [name, duration] = entry.split(';dur=');
      return [name, Number(duration)];
    }),
  );
}

module.exports = { hearErrors, serve, timing };
