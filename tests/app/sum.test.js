'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { badRequest, serve } = require('./support/app');

test('sum without a number says hello world', async (t) => {
  const get = await serve(t);
  assert.deepEqual(await (await get('/sum')).json(), { message: 'hello world' });
});

test('sum adds up 0 to n', async (t) => {
  const get = await serve(t);
  for (const n of [0, 1, 2, 10, 999, 500_000, 3_000_000]) {
    const exact = (BigInt(n) * (BigInt(n) + 1n)) / 2n;
    const response = await get(`/sum/${n}`);
    assert.equal(response.status, 200);
    assert.deepEqual(await response.json(), { n, sum: Number(exact), capped: false });
  }
});

test('leading zeros do not change n', async (t) => {
  const get = await serve(t);
  assert.deepEqual(await (await get('/sum/007')).json(), { n: 7, sum: 28, capped: false });
});

test('n above 5,000,000,000 is capped, however many digits it has', async (t) => {
  const get = await serve(t);
  const answer = await (await get(`/sum/${'9'.repeat(400)}`)).json();
  // Doubles added one by one, each time rounded the same way on every machine.
  assert.deepEqual(answer, { n: 5_000_000_000, sum: 12500000000066986000, capped: true });
});

for (const n of ['abc', '-1', '+1', '1.5', '1e3', '0x10', '%20', '1%20', '٣', 'NaN', 'Infinity']) {
  test(`sum of "${n}" is a bad request that names n`, async (t) => {
    const error = await badRequest(t, `/sum/${n}`);
    assert.equal(error.parameter, 'n');
    assert.equal(error.value, decodeURIComponent(n));
    assert.match(error.allowed, /whole number/);
  });
}
