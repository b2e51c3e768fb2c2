'use strict';

const { performance } = require('node:perf_hooks');
const { setTimeout: wait } = require('node:timers/promises');

const CARRIER_MS = 50;
const RANDOM_MS = { least: 20, most: 80 };

/**
 * Asks one carrier: waits as long as its network would take, takes its raw answer, and transforms
 * it into the universal model. The same in this process and in a child.
 *
 * A carrier is a module `{ name, answer(query, signal), toTickets(raw) }`.
 *
 * @param {string} file absolute path of the carrier's module
 * @param {object} query as readQuery() gives it
 * @param {{ randomDelay: boolean, signal?: AbortSignal }} options `signal`: stop waiting
 * @returns {Promise<{ tickets: import('./tickets').Ticket[], workMs: number }>} `workMs`: for how
 *   long it occupied the event loop, waits left out
 */
async function askCarrier(file, query, { randomDelay, signal }) {
  const { answer, toTickets } = require(file);
  let workMs = 0;
  const timed = (work) => {
    const startedAt = performance.now();
    const result = work();
    workMs += performance.now() - startedAt;
    return result;
  };

  await wait(randomDelay ? randomMs() : CARRIER_MS, undefined, { signal });
  const raw = await timed(() => answer(query, signal));
  const tickets = timed(() => toTickets(raw));
  return { tickets, workMs };
}

function randomMs() {
  return RANDOM_MS.least + Math.random() * (RANDOM_MS.most - RANDOM_MS.least);
}

module.exports = { askCarrier };
