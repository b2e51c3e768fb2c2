'use strict';

const { onlyGet } = require('../../routes');
const { askAll } = require('./ask-all');
const { childPerCarrier } = require('./askers/child-per-carrier');
const { childPerSearch } = require('./askers/child-per-search');
const { inProcess } = require('./askers/in-process');
const { readQuery } = require('./query');
const { inOrder } = require('./tickets');

const CARRIERS = ['aurora', 'borealis', 'cirrus'].map((name) =>
  require.resolve(`./carriers/${name}`),
);
const ASKERS = { none: inProcess, 'per-search': childPerSearch, 'per-carrier': childPerCarrier };
const TIME_LIMIT_MS = 1000;

/**
 * GET /search?origin=&destination=&date=: asks all carriers at once, merges their tickets.
 *
 * Where the carriers are asked is the only thing USE_CHILD_PROCESSES changes: an asker is
 * `(file, query, timeLimitMs) => Promise<{ tickets, workMs }>`.
 *
 * @param {{ childProcesses: keyof typeof ASKERS, randomDelay: boolean }} settings
 * @param {object} [options] for tests
 * @param {string[]} [options.carriers] absolute paths of carrier modules
 * @param {number} [options.timeLimitMs] how long a carrier may take
 */
function search(settings, { carriers = CARRIERS, timeLimitMs = TIME_LIMIT_MS } = {}) {
  const ask = ASKERS[settings.childProcesses](settings);
  return onlyGet({
    '/search': async (req, res) => {
      const query = readQuery(req.query);
      const { answers, warnings } = await askAll(carriers, (file) => ask(file, query, timeLimitMs));
      res.locals.resumeWork(answers.reduce((total, { workMs }) => total + workMs, 0));
      const tickets = inOrder(answers.flatMap((answer) => answer.tickets));
      res.json({ query, tickets, warnings });
    },
  });
}

module.exports = search;
