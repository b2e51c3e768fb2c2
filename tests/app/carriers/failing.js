'use strict';

// A carrier that refuses; what it says is for the log and not for the caller.
module.exports = {
  name: 'Failing',
  answer() {
    throw new Error('secret of the carrier');
  },
  toTickets: () => [],
};
