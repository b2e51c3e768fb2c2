'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { request, repeat, underLoad } = require('./support/balancer');
const { childrenOf, endChildren, isAlive, startServer, until } = require('./support/processes');
const { childPerCarrier } = require('../../app/targets/search/askers/child-per-carrier');

const QUERY = { origin: 'PAR', destination: 'LYS', date: '2026-03-14' };
const PATH = `/search?${new URLSearchParams(QUERY)}`;
const PER_CARRIER = { USE_CHILD_PROCESSES: 'per-carrier' };

const real = (name) => require.resolve(`../../app/targets/search/carriers/${name}`);
const odd = (name) => require.resolve(`./carriers/${name}`);

async function server(t) {
  const { child, port, exited } = await startServer(t, PER_CARRIER);
  const search = async () => {
    const { status, body } = await request({ port, path: PATH });
    assert.equal(status, 200);
    return JSON.parse(body);
  };
  return { child, exited, search, helpers: () => childrenOf(child.pid).sort() };
}

/** An asker in this process, whose children end with the test. */
function asker(t) {
  endChildren(t);
  return childPerCarrier({ randomDelay: false });
}

test('three processes answer all searches, one for each carrier, and end with the server', async (t) => {
  const { child, exited, search, helpers } = await server(t);
  await search();
  const first = helpers();
  assert.equal(first.length, 3);
  for (const { warnings } of await repeat(30, search)) assert.deepEqual(warnings, []);
  assert.deepEqual(helpers(), first);
  const inFlight = repeat(3, search);
  child.kill('SIGINT');
  for (const { warnings } of await inFlight) assert.deepEqual(warnings, []);
  assert.deepEqual(await exited, [0, null]);
  await until(() => !first.some(isAlive), 'the children are gone');
});

test('a killed server leaves none of them', async (t) => {
  const { child, search, helpers } = await server(t);
  await search();
  const left = helpers();
  child.kill('SIGKILL');
  await until(() => !left.some(isAlive), 'the children are gone');
});

test('searches under way survive the death of a process, which is started again', async (t) => {
  const { search, helpers } = await server(t);
  const whole = await search();
  const [victim, ...others] = helpers();
  const answers = await underLoad(search, undefined, 5, async (soFar) => {
    await until(() => soFar.length > 10, 'the load is on');
    process.kill(victim, 'SIGKILL');
    await until(() => helpers().length === 3, 'there are three again');
    const backAt = soFar.length;
    await until(() => soFar.length > backAt + 10, 'the load goes on');
  });
  for (const answer of answers) assert.deepEqual(answer, whole);
  const now = helpers();
  assert.ok(!now.includes(victim) && others.every((pid) => now.includes(pid)));
});

test('a question that its process dies over is asked once more and then given up', async (t) => {
  const ask = asker(t);
  const error = { message: 'its process ended with code 7' };
  await assert.rejects(ask(odd('dying'), QUERY, 1000), error);
  const { tickets } = await ask(real('aurora'), QUERY, 1000);
  assert.ok(tickets.length > 0);
});

test('a process that is stuck is killed, and so the next search gets a new one', async (t) => {
  const ask = asker(t);
  await assert.rejects(ask(odd('hanging'), QUERY, 200), { message: 'no answer within 200 ms' });
  const [stuck] = childrenOf(process.pid);
  await until(() => !isAlive(stuck), 'the stuck one is gone');
  await assert.rejects(ask(odd('hanging'), QUERY, 200), { message: 'no answer within 200 ms' });
  assert.ok(!childrenOf(process.pid).includes(stuck));
});

test('a process whose carrier is merely slow is kept', async (t) => {
  const ask = asker(t);
  await assert.rejects(ask(odd('slow'), QUERY, 300), { message: 'no answer within 300 ms' });
  const [child] = childrenOf(process.pid);
  await assert.rejects(ask(odd('slow'), QUERY, 900), { message: 'no answer within 900 ms' });
  assert.deepEqual(childrenOf(process.pid), [child]);
});

test('more searches than a carrier can serve are refused and not piled up', async (t) => {
  const ask = asker(t);
  const outcomes = await Promise.allSettled(
    Array.from({ length: 1003 }, () => ask(real('aurora'), QUERY, 10_000)),
  );
  const refused = outcomes.filter(({ status }) => status === 'rejected');
  assert.deepEqual(
    refused.map(({ reason }) => reason.message),
    Array(3).fill('1000 searches wait for it already'),
  );
});
