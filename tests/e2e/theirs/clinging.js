'use strict';

// A service that does not end with its parent: PM2's daemon may die, it stays. Told to by HANDS_OVER
// it has a child listen, which has an environment of its own, and ends with PM2 itself.

const { spawn } = require('node:child_process');
const http = require('node:http');

const { HANDS_OVER, PORT, PATH, TOLLGATE_TEST_SESSION } = process.env;

if (HANDS_OVER) {
  const env = { PORT, PATH, TOLLGATE_TEST_SESSION };
  spawn(process.execPath, [__filename], { env, detached: true, stdio: 'ignore' }).unref();
  process.on('disconnect', () => process.exit());
  setInterval(() => {}, 1000);
} else {
  process.removeAllListeners('disconnect'); // a cluster's worker would end
  process.on('uncaughtException', () => {}); // and who writes to a pipe that nobody reads
  process.on('SIGHUP', () => {});
  setInterval(() => {}, 1000);
  http.createServer((req, res) => res.end('{"sum":500500}')).listen(Number(PORT), '127.0.0.1');
}
