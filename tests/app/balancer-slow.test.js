'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { fakeServer, repeat, servers, startBalancer } = require('./support/balancer');
const { until, withPatience } = require('./support/processes');

test('a server that is merely slow costs a 504, is not asked twice and stays', async (t) => {
  const slow = await fakeServer(t, () => {});
  const quick = await fakeServer(t, (req, res) => res.end('quick'));
  await withPatience(200, async (timeoutMs) => {
    const before = [slow.asked.length, quick.asked.length];
    const { ask, view } = await startBalancer(t, [slow.port, quick.port], {
      BALANCER_TIMEOUT_MS: String(timeoutMs),
    });
    const answers = await repeat(6, () => ask('/sum'));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 200, 504, 504, 504]);
    const { error } = JSON.parse(answers.find(({ status }) => status === 504).body);
    assert.deepEqual(error, {
      reason: 'no answer in time; set BALANCER_TIMEOUT_MS to wait',
      attempts: [{ server: `127.0.0.1:${slow.port}`, failure: 'too slow' }],
    });
    assert.deepEqual([slow.asked.length - before[0], quick.asked.length - before[1]], [3, 3]);
    const seen = (await view()).servers.find(({ url }) => url.endsWith(`:${slow.port}`));
    assert.deepEqual([seen.status, seen.failed, seen.inFlight], ['up', 3, 0]);
  });
});

test('a server that hangs is out of the deal until it moves again', async (t) => {
  const [one, other] = await servers(t, 2);
  const { ask, statuses } = await startBalancer(t, [one.port, other.port], {
    BALANCER_TIMEOUT_MS: '200',
  });
  one.child.kill('SIGSTOP');
  await until(async () => {
    await ask('/sum');
    return (await statuses()).includes('down');
  }, 'it is found to hang');
  for (const { status } of await repeat(4, () => ask('/sum'))) assert.equal(status, 200);
  one.child.kill('SIGCONT');
  await until(async () => !(await statuses()).includes('down'), 'it is up again');
});
