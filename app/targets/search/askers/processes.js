'use strict';

const { fork } = require('node:child_process');
const { CarrierError, inTime } = require('./in-time');

const CHILD = require.resolve('./child');

// Generous, because a busy machine is not the carrier's fault: what its time limit counts is its
// own time, from the question to a child that is up.
const START_LIMIT_MS = 10_000;

const alive = new Set();
process.on('exit', () => alive.forEach((child) => child.kill('SIGKILL')));

/** A child process ended before it had answered. */
class ProcessEnded extends CarrierError {
  constructor(code, signal) {
    super(`its process ended with ${signal ?? `code ${code}`}`);
  }
}

/** Starts a child process, see child.js, that does not outlive this one. */
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

/** Waits until a child that was just started can be asked. */
function ready(child) {
  return inTime(START_LIMIT_MS, () => nextMessage(child));
}

/** @returns {Promise<object>} rejected when the child dies instead */
function nextMessage(child) {
  return new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('error', reject);
    child.once('exit', (code, signal) => reject(new ProcessEnded(code, signal)));
  });
}

/** What askCarrier() gave in the child; throws if it sent a failure instead. */
function opened({ failure, tickets, workMs }) {
  if (failure) throw new Error(`in its process: ${failure}`);
  return { tickets, workMs };
}

module.exports = { nextMessage, opened, ProcessEnded, ready, start };
