'use strict';

const { setTimeout: wait } = require('node:timers/promises');

// A carrier that answers after a minute.
module.exports = {
  name: 'Slow',
  answer: (query, signal) => wait(60_000, [], { signal }),
  toTickets: (raw) => raw,
};
