'use strict';

const assert = require('node:assert/strict');
const { createApp } = require('../../../app/app');
const { readSettings } = require('../../../app/settings');
const { listen } = require('./processes');

/**
 * Serves an application in this process, on a port of the system's choosing, until the test ends.
 *
 * @param {import('node:test').TestContext} t
 * @param {Record<string, string>} [env] settings, as the environment would give them
 * @param {object} [options] for createApp()
 * @returns {Promise<(path: string, init?: RequestInit) => Promise<Response>>}
 */
async function serve(t, env = {}, options = {}) {
  const { port } = await listen(t, createApp({ settings: readSettings(env), ...options }));
  return (path, init) => fetch(`http://127.0.0.1:${port}${path}`, init);
}

/** Asks an application for something that it refuses as a bad request; returns the error. */
async function badRequest(t, path) {
  const get = await serve(t);
  const response = await get(path);
  assert.equal(response.status, 400);
  return (await response.json()).error;
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

module.exports = { badRequest, hearErrors, serve, timing };
