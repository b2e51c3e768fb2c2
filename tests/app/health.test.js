'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { serve } = require('./support/app');

test('outside PM2 the mode is none and the instance 0', async (t) => {
  const get = await serve(t);
  const response = await get('/healthz');
  assert.equal(response.status, 200);
  const expected = { status: 'ok', mode: 'none', instance: '0', pid: process.pid };
  assert.deepEqual(await response.json(), expected);
});

test('under PM2 mode and instance are the ones that PM2 gives', async (t) => {
  const get = await serve(t, { exec_mode: 'cluster_mode', NODE_APP_INSTANCE: '5' });
  const response = await get('/healthz');
  const { mode, instance } = await response.json();
  assert.deepEqual({ mode, instance }, { mode: 'cluster', instance: '5' });
  assert.equal(response.headers.get('x-worker'), '5');
});
