'use strict';

// A carrier whose answer cannot be read.
module.exports = { name: 'Garbled', answer: () => '<html>', toTickets: (raw) => JSON.parse(raw) };
