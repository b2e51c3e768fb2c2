'use strict';

const { askCarrier } = require('../ask-carrier');
const { inTime } = require('./in-time');

/** The asker that stays in this process: see targets/search. */
function inProcess({ randomDelay }) {
  return (file, query, timeLimitMs) =>
    inTime(timeLimitMs, (signal) => askCarrier(file, query, { randomDelay, signal }));
}

module.exports = { inProcess };
