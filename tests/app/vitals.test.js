'use strict';

const assert = require('node:assert/strict');
const { fork } = require('node:child_process');
const { once, EventEmitter } = require('node:events');
const path = require('node:path');
const { test } = require('node:test');
const { loopDelay, reportVitals, VITALS } = require('../../app/vitals');
const { until } = require('./support/processes');

const SERVER = path.join(__dirname, 'support', 'vital-server.js');

/** A server that takes this process for PM2; `told` grows by what it says of itself. */
async function startServer(t) {
  const child = fork(SERVER, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  t.after(() => child.kill('SIGKILL'));
  const told = [];
  child.on('message', ({ type, data }) => {
    assert.equal(type, 'axm:monitor');
    const entries = Object.entries(VITALS).map(([key, name]) => [key, data[name].value]);
    told.push(Object.fromEntries(entries));
  });
  const [port] = await once(child.stdout.setEncoding('utf8'), 'data');
  const ask = (urlPath) => fetch(`http://127.0.0.1:${port.trim()}${urlPath}`).then((r) => r.text());
  return { child, told, ask };
}

for (const [name, turns, loopDelayP50, loopDelayP95] of [
  ['an idle loop has no delay', Array(98).fill(10), 0, 0],
  ['one moment in twenty waits 150 ms of a block of 200', [...Array(80).fill(10), 210], 0, 150],
  ['a loop that is blocked all the time delays the median too', Array(5).fill(210), 100, 190],
  ['a second without a single turn has no delay that anybody could know', [], null, null],
]) {
  test(name, () => assert.deepEqual(loopDelay(turns), { loopDelayP50, loopDelayP95 }));
}

test('without PM2 nothing is listened to', (t) => {
  const { send } = process;
  process.send = undefined;
  t.after(() => (process.send = send));
  const server = new EventEmitter();
  reportVitals(server);
  assert.deepEqual(server.eventNames(), []);
});

test('a worker tells at once that it has answered nothing, and then how much', async (t) => {
  const { told, ask } = await startServer(t);
  await until(() => told.length > 0, 'the first vitals');
  assert.equal(told[0].requests, 0);
  assert.equal(told[0].loopDelayP95, null);
  for (let i = 0; i < 5; i += 1) await ask('/');
  await until(() => told.at(-1).requests === 5, 'five answers are told');
  const [before, after] = told.slice(-2);
  assert.ok(after.time > before.time);
  assert.ok(after.heap > 1e6 && after.heap < 1e9);
});

test('a blocked event loop shows at p95, and a second later no more', async (t) => {
  const { told, ask } = await startServer(t);
  await ask('/block');
  const blocked = await until(() => told.find((it) => it.loopDelayP95 >= 50), 'a delay is told');
  assert.ok(blocked.loopDelayP50 < blocked.loopDelayP95);
  await until(() => told.at(-1).loopDelayP95 < 50, 'the delay is over');
});

test('vitals keep no process alive', async (t) => {
  const { child, ask } = await startServer(t);
  const exited = once(child, 'exit');
  await ask('/end');
  assert.deepEqual(await exited, [0, null]);
});

test('a worker that PM2 has let go of still answers', async (t) => {
  const { child, told, ask } = await startServer(t);
  await until(() => told.length > 1, 'vitals are told');
  child.disconnect();
  await ask('/block');
  assert.equal(await ask('/'), 'answered\n');
  const exited = once(child, 'exit');
  await ask('/end');
  assert.deepEqual(await exited, [0, null]);
});
