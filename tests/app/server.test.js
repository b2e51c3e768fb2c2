'use strict';

const assert = require('node:assert/strict');
const { fork } = require('node:child_process');
const { once } = require('node:events');
const { test } = require('node:test');
const { cleanEnv, spawnServer, startServer } = require('./support/processes');

for (const [name, env, line] of [
  ['a port that is not one', { PORT: 'http' }, /^tollgate: PORT is "http"; allowed: .+\n$/],
  ['a port out of range', { PORT: '70000' }, /^tollgate: PORT is "70000"; allowed: .+\n$/],
  [
    'a delay that is none',
    { INJECT_DELAY_MS: 'x' },
    /^tollgate: INJECT_DELAY_MS is "x"; allowed: .+\n$/,
  ],
  [
    'an address of another machine',
    { HOST: '192.0.2.1' },
    /^tollgate: cannot listen on 192\.0\.2\.1:0: .*set HOST.* \(EADDRNOTAVAIL\)\n$/,
  ],
]) {
  test(`${name} ends the server with one clear line and exit code 1`, async (t) => {
    const { said, exited } = spawnServer(t, env);
    assert.deepEqual(await exited, [1, null]);
    assert.match(said.stderr, line);
    assert.equal(said.stdout, '');
  });
}

test('a port in use ends the server with one clear line and exit code 1', async (t) => {
  const { port } = await startServer(t);
  const { said, exited } = spawnServer(t, { PORT: String(port) });
  assert.deepEqual(await exited, [1, null]);
  const expected = `tollgate: cannot listen on 127.0.0.1:${port}: the port is in use; `;
  assert.ok(said.stderr.startsWith(expected), said.stderr);
  assert.match(said.stderr, /^.*set PORT.*\(EADDRINUSE\)\n$/);
});

test('the server listens on the loopback interface only', async (t) => {
  const { said } = await startServer(t);
  assert.match(said.stdout, /^listening on http:\/\/127\.0\.0\.1:\d+\n$/);
});

test('connections are kept alive for longer than a person thinks', async (t) => {
  const { port } = await startServer(t);
  const response = await fetch(`http://127.0.0.1:${port}/sum`);
  assert.equal(response.headers.get('keep-alive'), 'timeout=65');
});

test('LOG_REQUESTS=true logs each request to the console, and nothing does otherwise', async (t) => {
  const talkative = await startServer(t, { LOG_REQUESTS: 'true' });
  const quiet = await startServer(t);
  for (const { port } of [talkative, quiet]) await fetch(`http://127.0.0.1:${port}/sum/4?x=1`);
  for (const { child, exited } of [talkative, quiet]) {
    child.kill('SIGINT');
    await exited;
  }
  assert.match(talkative.said.stdout, /"GET \/sum\/4\?x=1 HTTP\/1\.1" 200 /);
  assert.equal(quiet.said.stdout.split('\n').length, 2);
});

test('the server tells its parent that it is ready', async (t) => {
  const options = { env: cleanEnv({ PORT: '0' }), silent: true, execArgv: [] };
  const child = fork(require.resolve('../../app/server'), [], options);
  t.after(() => child.kill('SIGKILL'));
  assert.deepEqual(await once(child, 'message'), ['ready', undefined]);
  child.send('shutdown');
  assert.deepEqual(await once(child, 'exit'), [0, null]);
});
