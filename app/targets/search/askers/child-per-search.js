'use strict';

const { inTime } = require('./in-time');
const { nextMessage, opened, ready, start } = require('./processes');

/** The asker that starts a process for each carrier of each search: see targets/search. */
function childPerSearch({ randomDelay }) {
  return async (file, query, timeLimitMs) => {
    const child = start();
    try {
      await ready(child);
      child.send({ id: 1, file, query, randomDelay });
      return opened(await inTime(timeLimitMs, () => nextMessage(child)));
    } finally {
      child.kill('SIGKILL'); // nothing is left for it to do or to save
    }
  };
}

module.exports = { childPerSearch };
