'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { serve } = require('./support/app');

test('meadow squares n', async (t) => {
  const get = await serve(t);
  for (const n of [0, 1, 7, 1_000_000]) {
    const response = await get(`/meadow/${n}`);
    assert.equal(response.status, 200);
    assert.deepEqual(await response.json(), { n, square: n * n });
  }
});

for (const n of ['abc', '-1', '1.5', '1000001']) {
  test(`meadow of "${n}" is a bad request that names n`, async (t) => {
    const get = await serve(t);
    const response = await get(`/meadow/${n}`);
    assert.equal(response.status, 400);
    const { error } = await response.json();
    assert.equal(error.parameter, 'n');
    assert.equal(error.value, n);
  });
}
