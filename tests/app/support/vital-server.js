'use strict';

// A server with vitals, for a parent that listens to them: /block keeps the event loop busy for
// 200 ms, /end closes the server and does nothing else to end the process.

const http = require('node:http');
const { reportVitals } = require('../../../app/vitals');

const BLOCK_MS = 200;

const server = http.createServer((req, res) => {
  res.setHeader('Connection', 'close');
  res.end('answered\n');
  if (req.url === '/block') block();
  if (req.url === '/end') server.close();
});
reportVitals(server);
server.listen(0, '127.0.0.1', () => console.log(server.address().port));

function block() {
  const end = performance.now() + BLOCK_MS;
  while (performance.now() < end);
}
