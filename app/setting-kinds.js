'use strict';

/** A setting with a value that is not allowed. Its message is one line, made to be shown. */
class SettingError extends Error {}

// The kinds of settings there are: what is allowed, in words, and how it is read. `parse` gives
// undefined for anything else.

const SWITCH = { allowed: 'true or false', parse: oneOf({ true: true, false: false }) };

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

/** Where a process listens: every one has these two. */
const LISTENER = {
  host: { variable: 'HOST', fallback: '127.0.0.1', allowed: 'a host name or address', parse: text },
  port: { variable: 'PORT', fallback: 3000, ...wholeNumber(0, 65_535) },
};

/**
 * Reads and checks the settings of a table. An empty variable counts as unset.
 *
 * @param {Record<string, { variable: string, fallback: unknown, allowed: string,
 *   parse: (value: string) => unknown }>} table by the name that a setting has in the code
 * @param {Record<string, string | undefined>} env the environment, e.g. process.env
 * @returns {object} one value for each key of the table
 * @throws {SettingError} names the variable, its value and what is allowed
 */
function read(table, env) {
  const settings = {};
  for (const [key, { variable, fallback, allowed, parse }] of Object.entries(table)) {
    const given = env[variable] ?? '';
    settings[key] = given === '' ? fallback : parse(given);
    if (settings[key] === undefined) {
      throw new SettingError(`${variable} is ${JSON.stringify(given)}; allowed: ${allowed}`);
    }
  }
  return settings;
}

module.exports = { LISTENER, oneOf, read, SettingError, SWITCH, text, wholeNumber, within };
