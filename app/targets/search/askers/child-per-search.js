'use strict';

const { fork } = require('node:child_process');
const { CarrierError, inTime } = require('./in-time');

const CHILD = require.resolve('./child');

// Generous, because a busy machine is not the carrier's fault: what its time limit counts is its
// own time, from the question to a child that is up.
const START_LIMIT_MS = 10_000;

const alive = new Set();
process.on('exit', () => alive.forEach((child) => child.kill('SIGKILL')));

/** The asker that starts a process for each carrier of each search: see targets/search. */
function childPerSearch({ randomDelay }) {
  return async (file, query, timeLimitMs) => {
    const child = start();
    try {
      await inTime(START_LIMIT_MS, () => nextMessage(child));
      child.send({ file, query, randomDelay });
      const { failure, ...answer } = await inTime(timeLimitMs, () => nextMessage(child));
      if (failure) throw new Error(`in its process: ${failure}`);
      return answer;
    } finally {
      child.kill('SIGKILL'); // nothing is left for it to do or to save
    }
  };
}

function start() {
  const child = fork(CHILD, [], {
    execArgv: [], // a debugger's port, for one, cannot be had twice
    // Out of the terminal's process group: Ctrl-C is for the server, which still drains.
    detached: true,
  });
  alive.add(child);
  child.once('exit', () => alive.delete(child));
  child.on('error', () => alive.delete(child)); // could not be started, has no exit
  return child;
}

/** @returns {Promise<object>} rejected when the child dies instead */
function nextMessage(child) {
  return new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      reject(new CarrierError(`its process ended with ${signal ?? `code ${code}`}`));
    });
  });
}

module.exports = { childPerSearch };
