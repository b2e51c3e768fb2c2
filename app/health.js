'use strict';

const { onlyGet } = require('./routes');

/** GET /healthz: which worker of which mode this is. Never slowed down by injection. */
function health({ instance, mode }) {
  return onlyGet({
    '/healthz': (req, res) => {
      res.json({ status: 'ok', mode, instance, pid: process.pid });
    },
  });
}

module.exports = health;
