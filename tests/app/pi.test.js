'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { serve } = require('./support/app');

// The estimate's standard deviation is 1.64 / sqrt(points); six of them are never left by chance.
const DEVIATION = 1.64;

test('pi of 10,000,000 points is plain text and right to three digits', async (t) => {
  const get = await serve(t);
  const response = await get('/pi');
  assert.equal(response.status, 200);
  assert.match(response.headers.get('content-type'), /^text\/plain/);
  const text = await response.text();
  assert.match(text, /^Pi: 3\.14\d*$/);
  assert.ok(Math.abs(Number(text.slice(4)) - Math.PI) < (6 * DEVIATION) / Math.sqrt(1e7));
});

test('PI_POINTS sets the number of points', async (t) => {
  const get = await serve(t, { PI_POINTS: '1' });
  for (let i = 0; i < 10; i += 1) assert.match(await (await get('/pi')).text(), /^Pi: [04]$/);
});
