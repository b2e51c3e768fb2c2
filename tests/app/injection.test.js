'use strict';

const assert = require('node:assert/strict');
const { performance } = require('node:perf_hooks');
const { test } = require('node:test');
const away = require('./carriers/away');
const { serve, timing } = require('./support/app');

const SEARCH = '/search?origin=PAR&destination=LYS&date=2026-03-14';
const KITTENS = '/evil-kittens-sploding-your-cpu/x';
const TARGETS = ['/calculate', '/sum', '/sum/1000', SEARCH, KITTENS, '/pi'];
const FEW = { PI_POINTS: '100000' };
const DELAY_MS = 120;
// The header rounds to a microsecond.
const ROUNDING = 0.002;

/** A clock that goes on by a millisecond whenever it is read, however busy the machine is. */
function countedClock(t) {
  let now = performance.now();
  t.mock.method(performance, 'now', () => (now += 1));
}

test('without injection every target tells its time and adds nothing', async (t) => {
  const get = await serve(t, FEW);
  countedClock(t);
  for (const path of TARGETS) {
    const { handler, work, injected } = timing(await get(path));
    assert.ok(work > 0 && work <= handler + ROUNDING, `${path}: ${work} of ${handler}`);
    assert.ok(injected <= 3, `${path}: the clock was read ${injected} times`);
  }
});

test('INJECT_DELAY_MS delays every target by at least that', async (t) => {
  const get = await serve(t, { ...FEW, INJECT_DELAY_MS: String(DELAY_MS) });
  for (const path of TARGETS) {
    const askedAt = performance.now();
    const response = await get(path);
    assert.ok(performance.now() - askedAt >= DELAY_MS, path);
    assert.ok(timing(response).injected >= DELAY_MS, path);
    assert.equal(response.status, 200);
  }
});

test('delays run side by side', async (t) => {
  const get = await serve(t, { INJECT_DELAY_MS: '1000' });
  let open = 0;
  let most = 0;
  const ask = async () => {
    most = Math.max(most, (open += 1));
    await get('/sum');
    open -= 1;
  };
  await Promise.all(Array.from({ length: 10 }, ask));
  assert.equal(most, 10);
});

for (const percent of [50, 300]) {
  test(`INJECT_WORK_PERCENT=${percent} adds that share of each target's own work`, async (t) => {
    const get = await serve(t, { ...FEW, INJECT_WORK_PERCENT: String(percent) });
    for (const path of TARGETS) {
      const { work, injected } = timing(await get(path));
      assert.ok(injected >= (work * percent) / 100 - ROUNDING, `${path}: ${injected} on ${work}`);
    }
  });
}

test('injected work occupies the event loop', async (t) => {
  const get = await serve(t, { INJECT_WORK_PERCENT: '300', PI_POINTS: '1000000' });
  await get('/pi');
  const before = performance.eventLoopUtilization();
  const { work, injected } = timing(await get('/pi'));
  const { active } = performance.eventLoopUtilization(before);
  assert.ok(active >= work + injected - ROUNDING, `${active} ms active`);
});

test('what a search waits for is not its own work', async (t) => {
  const now = performance.now.bind(performance);
  let waitedMs = 0;
  t.mock.method(performance, 'now', () => now() + waitedMs);
  t.mock.method(away, 'whileAway', () => (waitedMs += 60_000));
  const get = await serve(t, {}, { search: { carriers: [require.resolve('./carriers/away')] } });
  const { handler, work } = timing(await get(SEARCH));
  assert.ok(handler - work >= 60_000 - ROUNDING, `${work} of ${handler}`);
});

test('work that a search does in child processes is charged too', async (t) => {
  const get = await serve(t, { USE_CHILD_PROCESSES: 'true', INJECT_WORK_PERCENT: '100' });
  const { work, injected } = timing(await get(SEARCH));
  assert.ok(work > 0 && injected >= work - ROUNDING);
});

test('healthz is never slowed', async (t) => {
  const get = await serve(t, { INJECT_DELAY_MS: '60000', INJECT_WORK_PERCENT: '1000' });
  const response = await get('/healthz');
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('server-timing'), null);
});

test('errors are slowed like answers', async (t) => {
  const get = await serve(t, { INJECT_DELAY_MS: String(DELAY_MS) });
  for (const path of ['/sum/x', '/search', '/nowhere']) {
    assert.ok(timing(await get(path)).injected >= DELAY_MS, path);
  }
});
