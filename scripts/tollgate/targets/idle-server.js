'use strict';

/**
 * A server that does nothing, to measure how much a generator can send. Listens on the port that its
 * argument names, without one on a free port, which it prints. It ends when its standard input closes, so that it can't outlive the run.
 */

const http = require('node:http');

const ANSWER = JSON.stringify({ n: 0, sum: 0 });

const server = http.createServer((req, res) => {
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  res.end(ANSWER);
});
server.keepAliveTimeout = 0;
server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', 1024, () =>
  console.log(server.address().port),
);
process.stdin.resume().on('end', () => process.exit());
