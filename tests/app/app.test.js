'use strict';

const assert = require('node:assert/strict');
const http = require('node:http');
const { test } = require('node:test');
const { badRequest, hearErrors, serve } = require('./support/app');

const GOOD = [
  ...['/healthz', '/calculate', '/sum', '/sum/3', '/evil-kittens-sploding-your-cpu/tom', '/pi'],
  '/search?origin=PAR&destination=LYS&date=2026-03-14',
];
const BAD = ['/sum/x', '/search', '/evil-kittens-sploding-your-cpu/a.b', '/nowhere', '/%zz'];
const FEW = { PI_POINTS: '10', NODE_APP_INSTANCE: '7' };

for (const path of [...GOOD, ...BAD]) {
  test(`${path} names its worker and carries security headers`, async (t) => {
    const get = await serve(t, FEW);
    const response = await get(path);
    assert.equal(response.ok, GOOD.includes(path));
    const { headers } = response;
    assert.equal(headers.get('x-worker'), '7');
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.match(headers.get('content-security-policy'), /default-src 'self'/);
    assert.equal(headers.get('x-powered-by'), null);
    assert.equal(headers.get('etag'), null);
  });
}

test('an unknown route is 404 and lists the routes there are', async (t) => {
  const get = await serve(t);
  const response = await get('/nowhere?x=1');
  assert.equal(response.status, 404);
  const { error } = await response.json();
  assert.deepEqual([error.parameter, error.value], ['path', '/nowhere']);
  for (const path of ['/calculate', '/sum/:n', '/search', '/pi', '/healthz']) {
    assert.ok(error.allowed.split(', ').includes(path), path);
  }
});

for (const path of ['/%zz', '/sum/%zz', '/sum/%ff', '/evil-kittens-sploding-your-cpu/%']) {
  test(`malformed percent-encoding is a bad request: ${path}`, async (t) => {
    const error = await badRequest(t, path);
    assert.deepEqual([error.parameter, error.value], ['path', path]);
  });
}

for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']) {
  test(`${method} is not allowed on any route`, async (t) => {
    const get = await serve(t, FEW);
    for (const path of GOOD) {
      const response = await get(path, { method });
      assert.equal(response.status, 405, path);
      assert.equal(response.headers.get('allow'), 'GET, HEAD');
      assert.equal(response.headers.get('x-worker'), '7');
      const error = { parameter: 'method', value: method, allowed: 'GET, HEAD' };
      assert.deepEqual(await response.json(), { error });
    }
  });
}

test('HEAD answers like GET, without a body', async (t) => {
  const get = await serve(t, FEW);
  const response = await get('/sum/3', { method: 'HEAD' });
  assert.equal(response.status, 200);
  assert.ok(Number(response.headers.get('content-length')) > 0);
  assert.equal(await response.text(), '');
});

test('a very long value is not echoed in full', async (t) => {
  const error = await badRequest(t, `/sum/${'x'.repeat(5000)}`);
  assert.equal(error.value, `${'x'.repeat(100)}...`);
});

test('an unexpected error is told on stderr and not to the caller', async (t) => {
  const heard = hearErrors(t);
  t.mock.method(Math, 'random', () => {
    throw new TypeError('a secret');
  });
  const get = await serve(t, FEW);
  const response = await get('/pi');
  assert.equal(response.status, 500);
  assert.equal(response.headers.get('x-worker'), '7');
  const body = await response.text();
  assert.doesNotMatch(body, /secret|TypeError|at |\.js/);
  assert.match(JSON.parse(body).error.reason, /unexpected/);
  assert.equal(heard().length, 1);
  assert.match(heard()[0], /GET \/pi: TypeError: a secret\n\s+at /);
});

test('the environment is not read behind the back of createApp', async (t) => {
  process.env.INJECT_DELAY_MS = 'nonsense';
  t.after(() => delete process.env.INJECT_DELAY_MS);
  const get = await serve(t);
  assert.equal((await get('/sum')).status, 200);
});

test('an application can be had without a listener', () => {
  const { createApp } = require('../../app/app');
  assert.equal(typeof http.createServer(createApp()).listen, 'function');
});
