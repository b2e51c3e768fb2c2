'use strict';

// A carrier that never lets go of its process's event loop. Only for child processes.
module.exports = {
  name: 'Hanging',
  answer() {
    for (;;);
  },
  toTickets: () => [],
};
