'use strict';

const { CarrierError } = require('./askers/in-time');

/**
 * Asks all carriers at once. One that fails costs its own tickets and not the search: the others'
 * come back with a warning that names it. Why it failed is logged to stderr.
 *
 * @param {string[]} carriers absolute paths of carrier modules
 * @param {(file: string) => Promise<{ tickets: object[], workMs: number }>} ask
 * @returns {Promise<{ answers: { tickets: object[], workMs: number }[], warnings: string[] }>}
 */
async function askAll(carriers, ask) {
  const warnings = [];
  const outcomes = await Promise.allSettled(carriers.map(ask));
  outcomes.forEach(({ status, reason }, i) => {
    if (status === 'rejected') warnings.push(warning(carriers[i], reason));
  });
  const answers = outcomes.flatMap(({ value }) => value ?? []);
  return { answers, warnings };
}

function warning(file, reason) {
  const { name } = require(file);
  if (reason instanceof CarrierError) return `carrier ${name}: ${reason.message}`;
  console.error(`carrier ${name}:`, reason);
  return `carrier ${name}: failed`;
}

module.exports = { askAll };
