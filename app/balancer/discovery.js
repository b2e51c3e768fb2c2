'use strict';

const { promisify } = require('node:util');

const LOOK_EVERY_MS = 1000;
/** After that a look that has not come back is given up, and the next one may begin. */
const LOOK_LIMIT_MS = 5000;

/**
 * Tells who the servers are, over and over, until the process ends.
 *
 * With a fixed list that is once. Otherwise PM2 is asked, on one connection: every second, and at
 * once when it tells of a server that it started or that ended. PM2 tells nobody that it begins to
 * stop one, but its list says so.
 *
 * @param {object} settings as readSettings() gives them
 * @param {(servers: { name: string, url: string, pid: number | null }[]) => void} tell
 * @returns {Promise<() => { source: 'list' | 'pm2', looks: number, lookedMsAgo: number }>} after
 *   the first telling: how often it has been looked who there is, and when last
 */
async function discover(settings, tell) {
  if (settings.upstreams.length > 0) {
    const begun = Date.now();
    tell(settings.upstreams.map((url) => ({ name: new URL(url).host, url, pid: null })));
    return () => ({ source: 'list', looks: 1, lookedMsAgo: Date.now() - begun });
  }
  // The daemon's own, by Tollgate's word. Only here: a fixed list must work without it.
  const pm2 = require(process.env.PM2_PACKAGE || 'pm2');
  await promisify(pm2.connect.bind(pm2))();
  const bus = await promisify(pm2.launchBus.bind(pm2))();

  let looks = 0;
  let lookedAt;
  const look = latestOnly(async () => {
    const processes = await promisify(pm2.list.bind(pm2))();
    lookedAt = Date.now();
    looks += 1;
    tell(serversAmong(processes, settings));
  });
  bus.on('process:event', ({ process: { name } }) => settings.servers.test(name) && look());
  setInterval(look, LOOK_EVERY_MS);
  await look();
  return () => ({ source: 'pm2', looks, lookedMsAgo: Date.now() - lookedAt });
}

/**
 * The servers among PM2's processes: online, of a name that is asked for, and with a port. Of
 * several instances of a name, which share a port, the first.
 */
function serversAmong(processes, { servers: wanted, pmId }) {
  const byName = new Map();
  for (const { name, pid, pm_id: id, pm2_env: env } of processes) {
    const port = portOf(env);
    const isWanted = wanted.test(name) && id !== pmId && env.status === 'online';
    if (isWanted && port && !byName.has(name)) byName.set(name, { name, url: loopback(port), pid });
  }
  return [...byName.values()];
}

/** PM2 puts an app's variables among its own, or beside them. */
function portOf({ PORT, env }) {
  return Number(PORT ?? env?.PORT);
}

function loopback(port) {
  return `http://127.0.0.1:${port}`;
}

/** One at a time; what is asked for meanwhile is done once more, after it. */
function latestOnly(work) {
  let since = 0;
  let again = false;
  return async function run() {
    if (Date.now() - since < LOOK_LIMIT_MS) {
      again = true;
      return;
    }
    since = Date.now();
    again = false;
    await work().catch((error) => console.error('PM2 does not answer:', error.message ?? error));
    since = 0;
    if (again) await run();
  };
}

module.exports = { discover, serversAmong };
