'use strict';

// A service that knows nothing of Tollgate, of PM2 or of a framework.

const http = require('node:http');

const ANSWER_AFTER_MS = 5;

const server = http.createServer((req, res) => {
  setTimeout(() => {
    res.setHeader('Content-Type', 'application/json');
    res.end(JSON.stringify({ asked: req.url }));
  }, ANSWER_AFTER_MS);
});
server.listen(Number(process.env.PORT), '127.0.0.1');
