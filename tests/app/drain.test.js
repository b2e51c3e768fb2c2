'use strict';

const assert = require('node:assert/strict');
const { once } = require('node:events');
const http = require('node:http');
const net = require('node:net');
const { test } = require('node:test');
const { setTimeout: wait } = require('node:timers/promises');
const { DRAIN_LIMIT_MS, QUIET_MS, drainer } = require('../../app/drain');
const { repeat, request } = require('./support/balancer');
const { childrenOf, isAlive, listen, startServer } = require('./support/processes');
const { until, withPatience } = require('./support/processes');

const SEARCH = '/search?origin=PAR&destination=LYS&date=2026-03-14';

/** A client with `connections` that have each been used once and are kept alive. */
async function client(t, port, connections) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections });
  t.after(() => agent.destroy());
  const get = (path) => request({ port, agent, path });
  await repeat(connections, () => get('/healthz'));
  return get;
}

async function isRefused(port) {
  const socket = net.connect(port, '127.0.0.1');
  const outcome = await Promise.race([
    once(socket, 'connect').then(() => 'accepted'),
    once(socket, 'error').then(([error]) => error.code),
  ]).catch(({ code }) => code);
  socket.destroy();
  return outcome === 'ECONNREFUSED';
}

for (const signal of ['SIGINT', 'SIGTERM']) {
  test(`on ${signal} requests in flight are answered and new connections refused`, async (t) => {
    await withPatience(1000, async (delayMs) => {
      const { child, port, exited } = await startServer(t, { INJECT_DELAY_MS: String(delayMs) });
      const get = await client(t, port, 8);
      let answered = 0;
      const answers = repeat(8, () => get('/sum/3').finally(() => (answered += 1)));
      await fetch(`http://127.0.0.1:${port}/healthz`); // behind the others, so they have arrived
      child.kill(signal);
      await until(() => isRefused(port), 'new connections are refused');
      const inFlight = 8 - answered;
      const all = await answers;
      assert.deepEqual(await exited, [0, null]);
      assert.equal(inFlight, 8);
      for (const { status, headers, body } of all) {
        assert.deepEqual([status, headers.connection], [200, 'close']);
        assert.equal(JSON.parse(body).sum, 6);
      }
    });
  });
}

test('requests that wait unread behind a busy event loop are answered too', async (t) => {
  const { child, port, exited } = await startServer(t, { PI_POINTS: '4000000' });
  const get = await client(t, port, 8);
  const first = get('/pi');
  await wait(30); // so that the others and the signal find the server busy with it
  const queued = Array.from({ length: 4 }, () => get('/pi'));
  child.kill('SIGINT');
  // The signal is taken note of after the queue; until then these are unread and look idle.
  await Promise.race(queued);
  const late = repeat(3, () => get('/sum'));
  const answers = await Promise.all([first, ...queued, ...(await late)]);
  for (const { status } of answers) assert.equal(status, 200);
  assert.deepEqual(await exited, [0, null]);
});

test('a connection in steady use is told to close and loses nothing', async (t) => {
  const { child, port, exited } = await startServer(t);
  const get = await client(t, port, 1);
  const seen = [];
  while (seen.at(-1) !== 'close') {
    const { status, headers } = await get('/sum/100');
    assert.equal(status, 200);
    seen.push(headers.connection);
    if (seen.length === 50) child.kill('SIGINT');
  }
  assert.deepEqual(await exited, [0, null]);
});

test('an idle connection is kept until its client comes back to it, and told to close then', async (t) => {
  const { child, port, exited } = await startServer(t);
  const get = await client(t, port, 4);
  child.kill('SIGINT');
  await until(() => isRefused(port), 'new connections are refused');
  await wait(1000); // longer than any sweep; JMeter would not look whether it is still there
  for (const { status, headers } of await repeat(4, () => get('/sum/3'))) {
    assert.deepEqual([status, headers.connection], [200, 'close']);
  }
  assert.deepEqual(await exited, [0, null]);
});

test('idle connections are kept for longer than JMeter trusts them, but not to the limit', () => {
  const VALIDATE_AFTER_INACTIVITY_MS = 4900; // httpclient4.validate_after_inactivity
  assert.ok(QUIET_MS > VALIDATE_AFTER_INACTIVITY_MS);
  assert.ok(QUIET_MS < DRAIN_LIMIT_MS);
});

test('connections that say nothing do not hold up the end for ever', async (t) => {
  const { child, port, exited } = await startServer(t);
  await client(t, port, 2);
  const silent = net.connect(port, '127.0.0.1');
  silent.on('error', () => {});
  t.after(() => silent.destroy());
  await once(silent, 'connect');
  child.kill('SIGINT');
  assert.deepEqual(await exited, [0, null]);
});

test('a search in flight gets its child processes to finish, and none outlives it', async (t) => {
  const { child, port, exited } = await startServer(t, { USE_CHILD_PROCESSES: 'true' });
  const get = await client(t, port, 3);
  const answers = repeat(3, () => get(SEARCH));
  const helpers = await until(() => nonEmpty(childrenOf(child.pid)), 'children are there');
  child.kill('SIGINT');
  for (const { status, body } of await answers) {
    assert.equal(status, 200);
    for (const warning of JSON.parse(body).warnings) assert.match(warning, /: no answer within/);
  }
  assert.deepEqual(await exited, [0, null]);
  await until(() => !helpers.some(isAlive), 'the children are gone');
});

test('a killed server leaves no child process', async (t) => {
  const { child, port } = await startServer(t, { USE_CHILD_PROCESSES: 'true' });
  const get = await client(t, port, 5);
  const answers = repeat(5, () => get(SEARCH));
  const helpers = await until(() => nonEmpty(childrenOf(child.pid)), 'children are there');
  child.kill('SIGKILL');
  await Promise.allSettled([answers]);
  await until(() => !helpers.some(isAlive), 'the children are gone');
});

function nonEmpty(list) {
  return list.length > 0 && list;
}

test('a drain that does not end is cut off with a line and exit code 1', async (t) => {
  const said = t.mock.method(process.stderr, 'write', (text, encoding, written) => written());
  const { server, port } = await listen(t, () => {}); // never answers
  const ask = () => http.get({ port, host: '127.0.0.1' }).on('error', () => {});
  ask();
  await once(server, 'request');
  const code = await new Promise((resolve) => {
    const drain = drainer(server, { limitMs: 300, exit: resolve });
    server.once('request', () => drain());
    ask();
  });
  assert.equal(code, 1);
  assert.equal(
    said.mock.calls[0].arguments[0],
    'tollgate: 1 requests cut off, 300 ms after the signal\n',
  );
});
