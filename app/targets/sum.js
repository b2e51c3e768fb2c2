'use strict';

const { RequestError } = require('../errors');
const { onlyGet } = require('../routes');

// Some 4 s of one core: a caller cannot occupy a worker for longer with one request.
const LARGEST_N = 5_000_000_000;

/**
 * GET /sum: hello world. GET /sum/:n: adds 0..n on the event loop.
 *
 * The loop is the work that is measured, so there is no formula instead of it. It adds doubles:
 * exact up to n of about 134,000,000, beyond that rounded the way the loop rounds.
 */
function sum() {
  return onlyGet({
    '/sum': (req, res) => {
      res.json({ message: 'hello world' });
    },
    '/sum/:n': (req, res) => {
      const asked = wholeNumber(req.params.n);
      const n = Math.min(asked, LARGEST_N);
      res.json({ n, sum: addUpTo(n), capped: asked > LARGEST_N });
    },
  });
}

function wholeNumber(value) {
  if (!/^\d+$/.test(value)) {
    throw new RequestError('n', value, `a whole number; above ${LARGEST_N} it is capped`);
  }
  return Number(value); // Infinity for very many digits, and so capped
}

function addUpTo(n) {
  let total = 0;
  for (let i = 0; i <= n; i += 1) total += i;
  return total;
}

module.exports = sum;
