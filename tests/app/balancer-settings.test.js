'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { readSettings } = require('../../app/balancer/settings');
const { BALANCER, spawnServer } = require('./support/processes');

test('under PM2 nothing has to be set', () => {
  assert.deepEqual(readSettings({ pm_id: '4' }), {
    host: '127.0.0.1',
    port: 3000,
    servers: /^pi-/u,
    upstreams: [],
    timeoutMs: 30_000,
    pmId: 4,
  });
});

test('every variable is read', () => {
  const settings = readSettings({
    HOST: '::1',
    PORT: '3010',
    pm_id: '0',
    BALANCER_SERVERS: '^sum-[0-9]$',
    BALANCER_UPSTREAMS: 'http://localhost:1, http://127.0.0.1:2/,http://[::1]:3',
    BALANCER_TIMEOUT_MS: '1500',
  });
  assert.deepEqual(settings, {
    host: '::1',
    port: 3010,
    servers: /^sum-[0-9]$/u,
    upstreams: ['http://localhost:1', 'http://127.0.0.1:2', 'http://[::1]:3'],
    timeoutMs: 1500,
    pmId: 0,
  });
});

const REFUSED = ['3011', 'https://127.0.0.1:3011', 'http://127.0.0.1:1/pi', 'http://a@[::1]:1'];
for (const list of REFUSED) {
  test(`a list of servers with ${list} is refused`, () => {
    const read = () => readSettings({ BALANCER_UPSTREAMS: list });
    assert.throws(read, /^.*BALANCER_UPSTREAMS is ".*"; /);
  });
}

for (const [name, env, line] of [
  ['nobody to ask for servers', {}, /^tollgate: BALANCER_UPSTREAMS is unset and .*\n$/],
  [
    'a server of another machine',
    { BALANCER_UPSTREAMS: 'http://192.0.2.1:3011' },
    /^tollgate: BALANCER_UPSTREAMS is "http:\/\/192.0.2.1:3011"; allowed: .+\n$/,
  ],
  [
    'a server named twice',
    { BALANCER_UPSTREAMS: 'http://127.0.0.1:1,http://127.0.0.1:1/' },
    /^tollgate: BALANCER_UPSTREAMS is .*; allowed: .+\n$/,
  ],
  [
    'a pattern that is none',
    { pm_id: '0', BALANCER_SERVERS: '(' },
    /^tollgate: BALANCER_SERVERS is "\("; allowed: .+\n$/,
  ],
]) {
  test(`${name} ends the balancer with one clear line and exit code 1`, async (t) => {
    const { said, exited } = spawnServer(t, env, BALANCER);
    assert.deepEqual(await exited, [1, null]);
    assert.match(said.stderr, line);
  });
}
