'use strict';

// A carrier that takes its process with it. Only for child processes.
module.exports = { name: 'Dying', answer: () => process.exit(7), toTickets: () => [] };
