'use strict';

/**
 * A server that does nothing, to measure how much a generator can send. Prints its port once it
 * listens, and ends when its standard input closes, so that it can't outlive the run.
 */

const http = require('node:http');

const ANSWER = JSON.stringify({ n: 0, sum: 0 });

const server = http.createServer((req, res) => {
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  res.end(ANSWER);
});
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', 1024, () => console.log(server.address().port));
process.stdin.resume().on('end', () => process.exit());
