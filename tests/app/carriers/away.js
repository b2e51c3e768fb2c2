'use strict';

const { setImmediate: turn } = require('node:timers/promises');

// A carrier that answers nothing, in a later turn of the event loop. A test says what happens
// meanwhile.
module.exports = {
  name: 'Away',
  whileAway: () => {},
  answer: async () => {
    await turn();
    module.exports.whileAway();
    return [];
  },
  toTickets: (raw) => raw,
};
