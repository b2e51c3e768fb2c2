'use strict';

const kinds = require('./setting-kinds');

const { LISTENER, oneOf, SettingError, SWITCH, text, wholeNumber, within } = kinds;

/**
 * Everything that the environment may set for the targets' server, and the only place that reads
 * it. PM2 sets NODE_APP_INSTANCE and exec_mode.
 */
const SETTINGS = {
  ...LISTENER,
  instance: { variable: 'NODE_APP_INSTANCE', fallback: '0', allowed: 'any text', parse: text },
  mode: {
    variable: 'exec_mode',
    fallback: 'none',
    allowed: 'fork_mode or cluster_mode',
    parse: oneOf({ fork_mode: 'fork', cluster_mode: 'cluster' }),
  },
  randomDelay: { variable: 'USE_RANDOM_DELAY', fallback: false, ...SWITCH },
  childProcesses: {
    variable: 'USE_CHILD_PROCESSES',
    fallback: 'none',
    allowed: 'false, true (one per carrier and search) or per-carrier (long-lived ones)',
    parse: oneOf({ false: 'none', true: 'per-search', 'per-carrier': 'per-carrier' }),
  },
  kittensLeak: {
    variable: 'KITTENS_LEAK',
    fallback: true,
    allowed: 'on or off',
    parse: oneOf({ on: true, off: false }),
  },
  piPoints: { variable: 'PI_POINTS', fallback: 10_000_000, ...wholeNumber(1, 1_000_000_000) },
  logRequests: { variable: 'LOG_REQUESTS', fallback: false, ...SWITCH },
  injectDelayMs: { variable: 'INJECT_DELAY_MS', fallback: 0, ...wholeNumber(0, 60_000) },
  injectWorkPercent: {
    variable: 'INJECT_WORK_PERCENT',
    fallback: 0,
    allowed: 'a number from 0 to 1000',
    parse: (value) => (/^\d+(\.\d+)?$/.test(value) ? within(0, 1000, Number(value)) : undefined),
  },
};

/**
 * Reads and checks all settings.
 *
 * @param {Record<string, string | undefined>} [env] the environment, e.g. process.env
 * @returns {object} one value for each key of SETTINGS; injectDelayMs in milliseconds
 * @throws {SettingError} names the variable, its value and what is allowed
 */
function readSettings(env = {}) {
  return kinds.read(SETTINGS, env);
}

module.exports = { readSettings, SettingError };
