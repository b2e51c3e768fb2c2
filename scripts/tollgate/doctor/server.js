'use strict';

/**
 * One of the two identical servers of `tollgate doctor`: each request costs it the same work, about
 * a millisecond of one core. Prints its port, and ends when its standard input does, so that it
 * never outlives who started it, however that one ends.
 */

const http = require('node:http');

const STEPS = 1_000_000;

function work() {
  let total = 0;
  for (let i = 0; i <= STEPS; i += 1) total += i;
  return total;
}

const server = http.createServer((req, res) => {
  res.end(String(work()));
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.resume().on('end', () => process.exit());
