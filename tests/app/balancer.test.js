'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { QUICK, repeat, servers, shares, startBalancer, underLoad } = require('./support/balancer');
const { freePort, startServer, until } = require('./support/processes');

function ports(started) {
  return started.map(({ port }) => port);
}

test('requests are dealt evenly, to the request', async (t) => {
  const three = await servers(t, 3);
  const { ask, view } = await startBalancer(t, ports(three));
  const answers = [];
  const user = async () => {
    for (let i = 0; i < 30; i += 1) answers.push(await ask('/pi'));
  };
  await repeat(10, user);
  assert.deepEqual(Object.values(shares(answers)), [100, 100, 100]);
  for (const { status, body } of answers) {
    assert.equal(status, 200);
    assert.match(body, /^Pi: 3\.1\d+$/);
  }
  const { servers: seen } = await view();
  assert.deepEqual(
    seen.map(({ dealt, failed, inFlight, status }) => [dealt, failed, inFlight, status]),
    Array(3).fill([100, 0, 0, 'up']),
  );
});

test('one user alone meets the servers in turn', async (t) => {
  const three = await servers(t, 3);
  const { ask } = await startBalancer(t, ports(three));
  const names = [];
  for (let i = 0; i < 9; i += 1) names.push((await ask('/sum')).server);
  assert.equal(new Set(names.slice(0, 3)).size, 3);
  assert.deepEqual(names.slice(3), names.slice(0, 6));
});

test('kill -9 of one of three under load loses no GET, and it gets no more of them', async (t) => {
  const three = await servers(t, 3, { PI_POINTS: '200000' });
  const { ask, view } = await startBalancer(t, ports(three));
  const [victim] = three;
  const name = `127.0.0.1:${victim.port}`;
  let dealtAfter;
  const seen = async () => (await view()).servers.find((each) => each.name === name);
  const answers = await underLoad(ask, '/pi', 12, async (soFar) => {
    await until(() => soFar.length > 60, 'the load is on');
    victim.child.kill('SIGKILL');
    await until(async () => (await seen()).status === 'down', 'its death is noticed');
    dealtAfter = (await seen()).dealt;
    const noticedAt = soFar.length;
    await until(() => soFar.length > noticedAt + 60, 'the load goes on');
  });
  for (const { status } of answers) assert.equal(status, 200);
  const { dealt, reason } = await seen();
  assert.equal(dealt, dealtAfter);
  assert.match(reason, /ECONNREFUSED|ECONNRESET|other side closed/);
  assert.equal(Object.keys(shares(answers)).length, 3);
});

test('an idle server that dies is out of the deal before the next request', async (t) => {
  const [one, other] = await servers(t, 2);
  const { ask, statuses } = await startBalancer(t, [one.port, other.port]);
  one.child.kill('SIGKILL');
  await until(async () => (await statuses()).includes('down'), 'its death is noticed');
  const answers = await repeat(6, () => ask('/sum', { method: 'POST' }));
  for (const { server } of answers) assert.equal(server, `127.0.0.1:${other.port}`);
});

test('a server that drains under load loses no GET and is let finish', async (t) => {
  const three = await servers(t, 3, { INJECT_DELAY_MS: '100' });
  const { ask, statuses } = await startBalancer(t, ports(three));
  const answers = await underLoad(ask, '/sum', 9, async (soFar) => {
    await until(() => soFar.length > 20, 'the load is on');
    three[1].child.kill('SIGINT');
    assert.deepEqual(await three[1].exited, [0, null]);
    assert.deepEqual((await statuses()).sort(), ['down', 'up', 'up']);
  });
  for (const { status } of answers) assert.equal(status, 200);
});

test('a server that comes back is dealt to again', async (t) => {
  const [one, other] = await servers(t, 2);
  const { ask, statuses } = await startBalancer(t, [one.port, other.port]);
  one.child.kill('SIGKILL');
  await one.exited;
  await repeat(4, () => ask('/sum'));
  assert.deepEqual((await statuses()).sort(), ['down', 'up']);
  await startServer(t, { ...QUICK, PORT: String(one.port) });
  await until(async () => !(await statuses()).includes('down'), 'it is up again');
  assert.deepEqual(Object.values(shares(await repeat(10, () => ask('/sum')))), [5, 5]);
});

test('with all servers gone it says so, and goes on when one is back', async (t) => {
  const two = await servers(t, 2);
  const { ask, statuses } = await startBalancer(t, ports(two));
  for (const { child, exited } of two) {
    child.kill('SIGKILL');
    await exited;
  }
  await until(async () => !(await statuses()).includes('up'), 'their death is noticed');
  const gone = await ask('/pi');
  assert.equal(gone.status, 503);
  assert.equal(gone.headers['retry-after'], '1');
  assert.deepEqual(JSON.parse(gone.body), {
    error: { reason: 'no server is up', attempts: [] },
  });
  assert.equal((await ask('/balancer/healthz')).status, 503);
  await startServer(t, { ...QUICK, PORT: String(two[0].port) });
  await until(async () => (await ask('/pi')).status === 200, 'one is back');
});

test('servers that are not there when it starts are taken up when they are', async (t) => {
  const port = await freePort();
  const { ask, view } = await startBalancer(t, [port]);
  assert.equal((await ask('/pi')).status, 503);
  const [{ status, reason }] = (await view()).servers;
  assert.deepEqual([status, reason], ['unproven', 'GET /healthz: ECONNREFUSED']);
  await startServer(t, { ...QUICK, PORT: String(port) });
  await until(async () => (await ask('/pi')).status === 200, 'it is taken up');
});

test('the balancer drains: what is in flight is answered, and exit code 0', async (t) => {
  const three = await servers(t, 3, { INJECT_DELAY_MS: '800' });
  const { child, ask, view, exited } = await startBalancer(t, ports(three));
  const answers = repeat(6, () => ask('/sum/3'));
  await until(async () => {
    const { servers: seen } = await view();
    return seen.every(({ inFlight }) => inFlight === 2);
  }, 'all are in flight');
  child.kill('SIGINT');
  for (const { status, headers, body } of await answers) {
    assert.deepEqual([status, headers.connection, JSON.parse(body).sum], [200, 'close', 6]);
  }
  assert.deepEqual(await exited, [0, null]);
});
