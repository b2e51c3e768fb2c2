'use strict';

// A process that asks carriers on behalf of its parent. It says `ready`, takes questions
// `{ file, query, randomDelay }` and sends back what askCarrier() gives, or `{ failure }`.

const { askCarrier } = require('../ask-carrier');

process.on('message', async ({ file, query, randomDelay }) => {
  try {
    process.send(await askCarrier(file, query, { randomDelay }));
  } catch (error) {
    process.send({ failure: error.stack });
  }
});

// The parent is gone, however it went.
process.on('disconnect', () => process.exit());

process.send('ready');
