'use strict';

const kinds = require('../setting-kinds');

// Load goes to this machine alone, and so does what is passed on.
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Everything that the environment may set for the balancer, and the only place that reads it.
 * PM2 sets pm_id.
 */
const SETTINGS = {
  ...kinds.LISTENER,
  servers: {
    variable: 'BALANCER_SERVERS',
    fallback: /^pi-/u,
    allowed: 'a regular expression for the names of PM2 apps',
    parse: regularExpression,
  },
  upstreams: {
    variable: 'BALANCER_UPSTREAMS',
    fallback: [],
    allowed: 'http://HOST:PORT of this machine, several of them parted by commas, each one once',
    parse: upstreams,
  },
  timeoutMs: {
    variable: 'BALANCER_TIMEOUT_MS',
    fallback: 30_000,
    ...kinds.wholeNumber(1, 600_000),
  },
  pmId: { variable: 'pm_id', fallback: null, ...kinds.wholeNumber(0, Number.MAX_SAFE_INTEGER) },
};

function regularExpression(source) {
  try {
    return new RegExp(source, 'u');
  } catch {
    return undefined;
  }
}

function upstreams(list) {
  const origins = list.split(',').map(loopbackOrigin);
  const all = !origins.includes(undefined) && new Set(origins).size === origins.length;
  return all ? origins : undefined;
}

function loopbackOrigin(value) {
  const url = URL.canParse(value.trim()) ? new URL(value.trim()) : {};
  const bare = url.href === `${url.origin}/`;
  return bare && url.protocol === 'http:' && LOOPBACK.test(url.hostname) ? url.origin : undefined;
}

/**
 * Reads and checks all settings of the balancer.
 *
 * @param {Record<string, string | undefined>} [env] the environment, e.g. process.env
 * @returns {{ host: string, port: number, servers: RegExp, upstreams: string[], timeoutMs: number,
 *   pmId: number | null }} `upstreams` empty: ask PM2; `timeoutMs`: until an answer begins, and
 *   between two pieces of it
 * @throws {import('../setting-kinds').SettingError} also when there is nobody to ask for servers
 */
function readSettings(env = {}) {
  const settings = kinds.read(SETTINGS, env);
  if (settings.upstreams.length === 0 && settings.pmId === null) {
    throw new kinds.SettingError(
      'BALANCER_UPSTREAMS is unset and no PM2 has started this process, so there is nobody to ' +
        `ask for servers; start it with PM2 or set BALANCER_UPSTREAMS to ${SETTINGS.upstreams.allowed}`,
    );
  }
  return settings;
}

module.exports = { readSettings };
