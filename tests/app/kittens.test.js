'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { badRequest, serve } = require('./support/app');

const PATH = '/evil-kittens-sploding-your-cpu';
const MEGABYTE = 1_000_000;
const KITTENS = 80;

function fibonacci(n) {
  let [a, b] = [0, 1];
  for (let i = 0; i < n; i += 1) [a, b] = [b, a + b];
  return a;
}

async function askAll(get) {
  for (let i = 0; i < KITTENS; i += 1) await (await get(`${PATH}/kitten-${i}`)).arrayBuffer();
}

test('kittens computes the Fibonacci number that it names', async (t) => {
  const get = await serve(t);
  const answer = await (await get(`${PATH}/tom`)).json();
  const { n } = answer.fibonacci;
  assert.ok(n > 25);
  const expected = { id: 'tom', fibonacci: { n, value: fibonacci(n) }, leakedBytes: MEGABYTE };
  assert.deepEqual(answer, expected);
});

test('each new id leaks 1 MB, a known one none', async (t) => {
  const get = await serve(t);
  const leaked = [];
  for (const id of ['a', 'b', 'a', 'c', 'b']) {
    leaked.push((await (await get(`${PATH}/${id}`)).json()).leakedBytes / MEGABYTE);
  }
  assert.deepEqual(leaked, [1, 2, 2, 3, 3]);
});

test('the leak is resident memory of the process', async (t) => {
  const get = await serve(t);
  const before = process.memoryUsage();
  await askAll(get);
  const after = process.memoryUsage();
  assert.ok(after.arrayBuffers - before.arrayBuffers >= 0.9 * KITTENS * MEGABYTE);
  // What other tests have left, some 20 MB, may be given back meanwhile; pages of zeros would be none
  // at all.
  assert.ok(after.rss - before.rss >= 0.5 * KITTENS * MEGABYTE, `${after.rss - before.rss} bytes`);
});

test('KITTENS_LEAK=off leaks nothing', async (t) => {
  const get = await serve(t, { KITTENS_LEAK: 'off' });
  const before = process.memoryUsage();
  await askAll(get);
  const after = process.memoryUsage();
  assert.ok(after.arrayBuffers - before.arrayBuffers < 0.2 * KITTENS * MEGABYTE);
  const { leakedBytes } = await (await get(`${PATH}/kitten-0`)).json();
  assert.equal(leakedBytes, 0);
});

test('an id has up to 64 characters', async (t) => {
  const get = await serve(t);
  assert.equal((await get(`${PATH}/${'x'.repeat(64)}`)).status, 200);
});

for (const id of ['x'.repeat(65), 'a.b', 'a%20b', '%2Fetc', 'k%C3%A4tzchen']) {
  test(`the id ${id} is a bad request that names id`, async (t) => {
    const error = await badRequest(t, `${PATH}/${id}`);
    assert.equal(error.parameter, 'id');
    assert.equal(error.value, decodeURIComponent(id));
    assert.match(error.allowed, /1 to 64/);
  });
}
