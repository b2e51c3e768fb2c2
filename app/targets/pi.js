'use strict';

const { onlyGet } = require('../routes');

/** GET /pi: Monte-Carlo pi from `piPoints` random points, text/plain `Pi: 3.14...`. */
function pi({ piPoints }) {
  return onlyGet({
    '/pi': (req, res) => {
      res.type('text/plain').send(`Pi: ${estimate(piPoints)}`);
    },
  });
}

/** Four times the share of random points of the unit square that lie in the quarter circle. */
function estimate(points) {
  let inside = 0;
  for (let i = 0; i < points; i += 1) {
    const x = Math.random();
    const y = Math.random();
    if (x * x + y * y <= 1) inside += 1;
  }
  return (4 * inside) / points;
}

module.exports = pi;
