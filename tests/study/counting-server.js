'use strict';

// Says on which port it listens, counts the connections and requests that it gets, and prints both
// as JSON when its standard input ends. /late never answers, /no is answered 500, the rest 200.

const http = require('node:http');

const counts = { connections: 0, requests: 0, open: 0, mostOpen: 0 };
const server = http.createServer((req, res) => {
  counts.requests += 1;
  counts.open += 1;
  counts.mostOpen = Math.max(counts.mostOpen, counts.open);
  res.once('close', () => (counts.open -= 1));
  if (req.url === '/late') return;
  // Long enough that a server of these few users is never idle, nor measures its clients.
  const end = process.hrtime.bigint() + 500_000n;
  while (process.hrtime.bigint() < end);
  res.statusCode = req.url === '/no' ? 500 : 200;
  res.end('ok');
});

server.on('connection', () => (counts.connections += 1));
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.resume().once('end', () => {
  process.stdout.write(JSON.stringify(counts), () => process.exit());
});
