'use strict';

const assert = require('node:assert/strict');
const { once } = require('node:events');
const http = require('node:http');
const { test } = require('node:test');
const { fakeServer, repeat, request, startBalancer } = require('./support/balancer');
const { until } = require('./support/processes');

/** Ends the connection before any answer, as a server that crashes over a request does. */
const crash = (req) => req.socket.destroy();

test('a GET that a server dies over is answered by another, a POST is not sent twice', async (t) => {
  const seen = [];
  const handler = (name) => (req, res) => {
    seen.push(`${req.method} ${name}`);
    return name === 'bad' ? crash(req) : res.end(name);
  };
  const bad = await fakeServer(t, handler('bad'));
  const good = await fakeServer(t, handler('good'));
  const { ask, statuses } = await startBalancer(t, [bad.port, good.port]);
  const bothUp = async () => (await statuses()).every((status) => status === 'up');

  for (const method of ['GET', 'HEAD']) {
    for (let i = 0; i < 2; i += 1) {
      await until(bothUp, 'both are up');
      assert.equal((await ask('/x', { method })).status, 200);
    }
    assert.ok(seen.includes(`${method} bad`));
  }
  const posts = [];
  for (let i = 0; i < 2; i += 1) {
    await until(bothUp, 'both are up');
    posts.push(await ask('/x', { method: 'POST', body: 'once' }));
  }
  assert.deepEqual(posts.map(({ status }) => status).sort(), [200, 502]);
  assert.equal(seen.filter((each) => each.startsWith('POST')).length, 2);
  const { error } = JSON.parse(posts.find(({ status }) => status === 502).body);
  assert.equal(error.reason, 'the server failed, and a POST is not sent twice');
  assert.equal(error.attempts.length, 1);
});

test('a GET that every server dies over is tried once on each, then 502', async (t) => {
  const three = await repeat(3, () => fakeServer(t, crash));
  const ports = three.map(({ port }) => port);
  const { ask } = await startBalancer(t, ports);
  const { status, body } = await ask('/x');
  assert.equal(status, 502);
  const { error } = JSON.parse(body);
  assert.equal(error.reason, 'every server that was up failed');
  assert.equal(new Set(error.attempts.map(({ server }) => server)).size, 3);
  for (const { asked } of three) assert.equal(asked.length, 1);
});

test('what is no HTTP is a bad gateway', async (t) => {
  const { port } = await fakeServer(t, (req) => req.socket.end('hello\r\n\r\n'));
  const { ask } = await startBalancer(t, [port]);
  assert.equal((await ask('/x')).status, 502);
});

test('an answer comes back as it is, the headers of its connection apart', async (t) => {
  const body = Buffer.from(Array.from({ length: 100_000 }, (_, i) => i % 256)).toString('latin1');
  const { port } = await fakeServer(t, (req, res) => {
    res.writeHead(418, [
      ...['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'X-Worker', '7', 'Content-Encoding', 'odd'],
      ...['Connection', 'x-private', 'X-Private', 'this hop', 'Trailer', 'X-T'],
    ]);
    res.end(body, 'latin1');
  });
  const { ask } = await startBalancer(t, [port]);
  const answer = await ask('/x');
  assert.equal(answer.status, 418);
  assert.ok(answer.body === body);
  const { headers } = answer;
  assert.deepEqual(headers['set-cookie'], ['a=1', 'b=2']);
  assert.deepEqual([headers['x-worker'], headers['content-encoding']], ['7', 'odd']);
  assert.deepEqual([headers['x-private'], headers.trailer], [undefined, undefined]);
  assert.equal(answer.server, `127.0.0.1:${port}`);
});

test('a request arrives as it is, the headers of its connection apart', async (t) => {
  const { asked, port } = await fakeServer(t, async (req, res) => {
    let body = '';
    for await (const text of req.setEncoding('utf8')) body += text;
    res.end(body);
  });
  const { ask } = await startBalancer(t, [port]);
  const headers = {
    ...{ Host: 'example.test', 'X-Own': 'kept', Connection: 'keep-alive, x-private' },
    ...{ 'X-Private': 'this hop', TE: 'trailers', 'Transfer-Encoding': 'chunked' },
  };
  const { body } = await ask('/a%20b?c=%zz', { method: 'PUT', headers, body: 'hello' });
  assert.equal(body, 'hello');
  const [{ method, url, headers: got }] = asked;
  assert.deepEqual([method, url], ['PUT', '/a%20b?c=%zz']);
  assert.deepEqual([got.host, got['x-own']], ['example.test', 'kept']);
  assert.deepEqual([got['x-private'], got.te], [undefined, undefined]);
  assert.deepEqual([got['x-forwarded-for'], got.via], ['127.0.0.1', '1.1 tollgate-balancer']);
});

test('an answer is passed on piece by piece while the server is still at it', async (t) => {
  let finish;
  const { port } = await fakeServer(t, (req, res) => {
    res.write('first');
    finish = () => res.end('last');
  });
  const { port: own } = await startBalancer(t, [port]);
  const [response] = await once(http.get({ port: own, host: '127.0.0.1', path: '/x' }), 'response');
  const pieces = [];
  response.setEncoding('utf8').on('data', (piece) => pieces.push(piece));
  await until(() => pieces.length === 1, 'the first piece is here');
  finish();
  await once(response, 'end');
  assert.deepEqual(pieces, ['first', 'last']);
});

test('an answer that breaks off is cut off, not passed off as complete', async (t) => {
  const { asked, port } = await fakeServer(t, (req, res) => {
    res.write('half', () => req.socket.destroy());
  });
  const { ask, view } = await startBalancer(t, [port]);
  await assert.rejects(ask('/x'), { code: 'ECONNRESET' });
  assert.equal(asked.length, 1);
  const [{ failed }] = (await view()).servers;
  assert.equal(failed, 1);
});

test('a client that goes away takes its request to the server with it', async (t) => {
  const { asked, port } = await fakeServer(t, () => {});
  const { port: own, view } = await startBalancer(t, [port]);
  const gone = http.get({ port: own, host: '127.0.0.1', path: '/x' }).on('error', () => {});
  await until(() => asked.length === 1, 'the server is at it');
  gone.destroy();
  await until(() => asked[0].socket.destroyed, 'the server hears of it');
  const [{ status, failed }] = (await view()).servers;
  assert.deepEqual([status, failed], ['up', 0]);
});

test('a client that goes away in the middle of an answer does so too', async (t) => {
  const { asked, port } = await fakeServer(t, (req, res) => res.write('first'));
  const { port: own, view } = await startBalancer(t, [port]);
  const gone = http.get({ port: own, host: '127.0.0.1', path: '/x' }).on('error', () => {});
  const [response] = await once(gone, 'response');
  response.on('error', () => {}).resume();
  gone.destroy();
  await until(() => asked[0].socket.destroyed, 'the server hears of it');
  const [{ status, failed, inFlight }] = (await view()).servers;
  assert.deepEqual([status, failed, inFlight], ['up', 0, 0]);
});

test('a request target that is no path is refused', async (t) => {
  const { port } = await fakeServer(t, (req, res) => res.end());
  const { port: own } = await startBalancer(t, [port]);
  const { status, body } = await request({ port: own, method: 'OPTIONS', path: '*' });
  assert.equal(status, 400);
  assert.equal(JSON.parse(body).error.parameter, 'path');
});

test('the view takes no other method than GET', async (t) => {
  const { port } = await fakeServer(t, (req, res) => res.end());
  const { ask } = await startBalancer(t, [port]);
  assert.equal((await ask('/balancer/healthz', { method: 'POST' })).status, 405);
});
