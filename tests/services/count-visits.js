'use strict';

// What a careless change may bring: a middleware that computes as long as PERCENT of what an answer of
// the same kind took so far, before it lets a request on.

const PERCENT = 5;
/** Milliseconds that an answer takes, without the visit's own, by method and first part of the path. */
const usual = new Map();
const LEARNING = 0.02;
let visits = 0;

/** Computes for so many milliseconds. */
function countVisits(milliseconds) {
  const until = performance.now() + milliseconds;
  while (performance.now() < until) {
    for (let n = 0; n < 200; n += 1) visits = (visits * 31 + n) % 1_000_003;
  }
}

module.exports = function visitCounter(request, response, next) {
  const kind = `${request.method} ${request.path.split('/')[1]} ${request.path.split('/').length}`;
  const known = usual.get(kind);
  if (known) countVisits((known * PERCENT) / 100);
  const began = performance.now();
  response.once('finish', () => {
    const took = performance.now() - began;
    usual.set(kind, known ? known + LEARNING * (took - known) : took);
  });
  next();
};
