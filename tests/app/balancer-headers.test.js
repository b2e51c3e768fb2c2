'use strict';

const assert = require('node:assert/strict');
const { once } = require('node:events');
const net = require('node:net');
const { test } = require('node:test');
const { fakeServer, startBalancer } = require('./support/balancer');

const ROUNDS = 150;
/** Bytes that a header's value may hold, RFC 9110, section 5.5, and such as it may not. */
const BYTES = [9, ...range(0x20, 0x7f), ...range(0x80, 0x100)];
const FORBIDDEN = [...range(1, 9), 0x0b, 0x0c, ...range(0x0e, 0x20), 0x7f];

function range(from, to) {
  return Array.from({ length: to - from }, (_, i) => from + i);
}

/** A mulberry32 generator: the same numbers in each run. */
function seeded(seed) {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

/** A server that answers anything but GET /healthz with these bytes, a character a byte. */
async function rawServer(t, next) {
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (data) => {
      const isCheck = String(data).startsWith('GET /healthz ');
      const lines = isCheck ? [] : next();
      socket.write(
        ['HTTP/1.1 200 OK', ...lines, 'Content-Length: 0', '', ''].join('\r\n'),
        'latin1',
      );
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return server.address().port;
}

/** What comes back for the bytes of a request: status, header lines and body. */
async function exchange(port, request) {
  const socket = net.connect(port, '127.0.0.1');
  socket.write(request, 'latin1');
  let text = '';
  for await (const part of socket.setEncoding('latin1')) text += part;
  const [head, ...body] = text.split('\r\n\r\n');
  const [status, ...lines] = head.split('\r\n');
  return { status: Number(status.split(' ')[1]), lines, body: body.join('') };
}

const GET = 'GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

test("whatever bytes an answer's headers hold come back as they are", async (t) => {
  const pick = seeded(27);
  const value = () => {
    const bytes = range(0, pick(12)).map(() => BYTES[pick(BYTES.length)]);
    return String.fromCharCode(...bytes).replace(/^[\t ]+|[\t ]+$/g, '');
  };
  let lines;
  const port = await rawServer(t, () => lines);
  const { port: own } = await startBalancer(t, [port]);
  for (let round = 0; round < ROUNDS; round += 1) {
    lines = range(0, 1 + pick(5)).map(
      (i) => `${['X-Odd', 'x-odd', 'Content-Disposition', 'Etag'][i % 4]}: ${value()}`,
    );
    const answer = await exchange(own, GET);
    assert.equal(answer.status, 200, JSON.stringify(lines));
    const passed = answer.lines.slice(0, lines.length);
    assert.deepEqual(passed, lines);
  }
});

test('an answer with a header that nobody may pass on is a bad gateway', async (t) => {
  let forbidden;
  const line = () => `X-Odd: a${String.fromCharCode(forbidden)}b`;
  const port = await rawServer(t, () => [line()]);
  const { port: own, said, statuses } = await startBalancer(t, [port]);
  for (forbidden of FORBIDDEN) {
    while ((await statuses())[0] !== 'up');
    const { status } = await exchange(own, GET);
    assert.equal(status, 502, JSON.stringify(line()));
  }
  assert.equal(said.stderr, '');
});

test('headers of a request arrive byte for byte, and two hosts are refused', async (t) => {
  const { asked, port } = await fakeServer(t, (req, res) => res.end());
  const { port: own, said } = await startBalancer(t, [port]);
  const odd = 'caf\u00e9 \u00ff\u00c3';
  const lines = ['Host: a', `X-Odd: ${odd}`, 'X-Empty:', 'Connection: close', '', ''];
  assert.equal((await exchange(own, ['GET /x HTTP/1.1', ...lines].join('\r\n'))).status, 200);
  assert.deepEqual([asked[0].headers['x-odd'], asked[0].headers['x-empty']], [odd, '']);
  const two = ['GET /x HTTP/1.1', 'Host: b', ...lines].join('\r\n');
  const { status, body } = await exchange(own, two);
  assert.equal(status, 400);
  assert.match(body, /duplicate host header/);
  assert.deepEqual([asked.length, said.stderr], [1, '']);
});
