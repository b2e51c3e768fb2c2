'use strict';

/** A setting with a value that is not allowed. Its message is one line, made to be shown. */
class SettingError extends Error {}

const SWITCH = { allowed: 'true or false', parse: oneOf({ true: true, false: false }) };

/**
 * Everything that the environment may set, and the only place that reads it. An empty variable
 * counts as unset. PM2 sets NODE_APP_INSTANCE and exec_mode.
 */
const SETTINGS = {
  host: { variable: 'HOST', fallback: '127.0.0.1', allowed: 'a host name or address', parse: text },
  port: { variable: 'PORT', fallback: 3000, ...wholeNumber(0, 65_535) },
  instance: { variable: 'NODE_APP_INSTANCE', fallback: '0', allowed: 'any text', parse: text },
  mode: {
    variable: 'exec_mode',
    fallback: 'none',
    allowed: 'fork_mode or cluster_mode',
    parse: oneOf({ fork_mode: 'fork', cluster_mode: 'cluster' }),
  },
  randomDelay: { variable: 'USE_RANDOM_DELAY', fallback: false, ...SWITCH },
  childProcesses: { variable: 'USE_CHILD_PROCESSES', fallback: false, ...SWITCH },
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

function text(value) {
  return value;
}

function oneOf(meanings) {
  return (value) => (Object.hasOwn(meanings, value) ? meanings[value] : undefined);
}

function within(least, most, number) {
  return number >= least && number <= most ? number : undefined;
}

function wholeNumber(least, most) {
  return {
    allowed: `a whole number from ${least} to ${most}`,
    parse: (value) => (/^\d+$/.test(value) ? within(least, most, Number(value)) : undefined),
  };
}

/**
 * Reads and checks all settings.
 *
 * @param {Record<string, string | undefined>} [env] the environment, e.g. process.env
 * @returns {object} one value for each key of SETTINGS; injectDelayMs in milliseconds
 * @throws {SettingError} names the variable, its value and what is allowed
 */
function readSettings(env = {}) {
  const settings = {};
  for (const [key, { variable, fallback, allowed, parse }] of Object.entries(SETTINGS)) {
    const given = env[variable] ?? '';
    settings[key] = given === '' ? fallback : parse(given);
    if (settings[key] === undefined) {
      throw new SettingError(`${variable} is ${JSON.stringify(given)}; allowed: ${allowed}`);
    }
  }
  return settings;
}

module.exports = { readSettings, SettingError };
