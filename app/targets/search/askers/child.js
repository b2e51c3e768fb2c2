'use strict';

// A process that asks carriers on behalf of its parent, one question or many at a time. It says
// `ready`, takes questions `{ id, file, query, randomDelay }` and sends back `{ id }` with what
// askCarrier() gives, or with `failure`. A question that is taken back, `{ cancel: id }`, is
// answered at once too: that shows that this process is not stuck.

const { askCarrier } = require('../ask-carrier');

const underWay = new Map();

process.on('message', ({ cancel, ...question }) => {
  if (cancel === undefined) return answer(question);
  underWay.get(cancel)?.abort();
  return send(cancel, { failure: 'taken back' });
});

async function answer({ id, file, query, randomDelay }) {
  const controller = new AbortController();
  underWay.set(id, controller);
  try {
    send(id, await askCarrier(file, query, { randomDelay, signal: controller.signal }));
  } catch (error) {
    send(id, { failure: error.stack });
  }
}

/** The first answer to a question is the only one. */
function send(id, message) {
  if (underWay.delete(id)) process.send({ id, ...message });
}

// The parent is gone, however it went.
process.on('disconnect', () => process.exit());

process.send('ready');
