'use strict';

const { RequestError } = require('../errors');
const { onlyGet } = require('../routes');

const LARGEST_N = 1_000_000;

/** GET /meadow/:n: the square of n. Put the work of yours in its place. */
function meadowTarget() {
  return onlyGet({
    '/meadow/:n': (req, res) => {
      const n = wholeNumber(req.params.n);
      res.json({ n, square: n * n });
    },
  });
}

function wholeNumber(value) {
  const n = Number(value);
  if (/^\d+$/.test(value) && n <= LARGEST_N) return n;
  throw new RequestError('n', value, `a whole number of at most ${LARGEST_N}`);
}

module.exports = meadowTarget;
