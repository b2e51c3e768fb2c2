#!/bin/sh
# axios-har-tracker 0.8.0 with axios 1.21.1: `bodySize` is the length of the body as JSON. A body that
# is JSON is written as JSON again, with its quotes escaped.
#
# Guessed: the bytes that were sent, as HAR has it, or -1. Seen:
#
#   /json   14 bytes sent, bodySize 20, text {"user":"ann"}
#   /form   16 bytes sent, bodySize 18, text a=b&c=1234567890
#   /text    5 bytes sent, bodySize 7, text hello
#   /bytes   3 bytes sent, bodySize 32, text {"type":"Buffer","data":[1,2,3]}
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" axios@1.21.1 axios-har-tracker@0.8.0

cat >record.js <<'JS'
const assert = require('node:assert');
const http = require('node:http');
const axios = require('axios');
const { AxiosHarTracker } = require('axios-har-tracker');

const bytes = {};
const server = http.createServer(async (request, response) => {
  bytes[request.url] = 0;
  for await (const part of request) bytes[request.url] += part.length;
  response.end();
});
server.listen(0, '127.0.0.1', async () => {
  const shop = `http://127.0.0.1:${server.address().port}`;
  const tracker = new AxiosHarTracker(axios);
  await axios.post(`${shop}/json`, { user: 'ann' });
  await axios.post(`${shop}/form`, new URLSearchParams({ a: 'b', c: '1234567890' }));
  await axios.post(`${shop}/text`, 'hello');
  await axios.post(`${shop}/bytes`, Buffer.from([1, 2, 3]));
  server.close();
  const seen = tracker.getGeneratedHar().log.entries.map(({ request }) => {
    const path = new URL(request.url).pathname;
    const { text } = request.postData;
    console.log(path, bytes[path], 'bytes sent, bodySize', request.bodySize, 'text', text);
    return [bytes[path], request.bodySize];
  });
  assert.deepEqual(seen, [[14, 20], [16, 18], [5, 7], [3, 32]]);
});
JS
node record.js
