'use strict';

const path = require('node:path');
const { DRAIN_LIMIT_MS } = require('./app/drain');

// The PM2 topology, and the only place where ports and instances are named. PM2 hands its caller's
// whole environment to the apps, so that app/settings.js sees e.g. INJECT_DELAY_MS; read here are
// MEMORY_LIMIT and, for each app, its port: PORT_FORK, PORT_PI_1 and so on. For a comparison
// scripts/tollgate/compare sets COMPARE_MODE, BASE_FOLDER and HEAD_FOLDER; its user may set what slows
// head alone, such as HEAD_INJECT_DELAY_MS, which goes before INJECT_DELAY_MS.
const memoryLimit = process.env.MEMORY_LIMIT || '512M';

// Processes of each side of a comparison in fork mode: any one may be some per cent faster or slower
// than others of its code for as long as it lives. Their ports are PORT_BASE, and those behind it.
const PROCESSES = 4;

const common = {
  ...placed(__dirname),

  wait_ready: true,
  listen_timeout: 10_000,
  // After the server's own limit, so that it is never killed while it drains; and the server alone
  // gets the signal, because searches in flight still need their child processes.
  kill_timeout: DRAIN_LIMIT_MS + 2_000,
  treekill: false,

  // A worker that dies later is started again; one that cannot start is given up after 3 tries.
  autorestart: true,
  min_uptime: 5_000,
  max_restarts: 3,
  // Some 400 new kittens a worker.
  max_memory_restart: memoryLimit,

  merge_logs: true,
};

const inFork = { ...common, exec_mode: 'fork', instances: 1 };
const inCluster = { ...common, exec_mode: 'cluster', instances: 'max' };
const balancer = { ...inFork, script: path.join('app', 'balancer.js') };

/** The server of a checkout. PM2 takes a `script` that holds a space for a command of the shell. */
function placed(folder) {
  return { script: path.join('app', 'server.js'), cwd: folder };
}

/** One of the two that are compared, as `base`, `base-2` and so on: both in the same mode, each from
 * a folder of its own. */
function compared(side, port, settings) {
  const inOne = process.env.COMPARE_MODE === 'cluster';
  const folder = process.env[`${side.toUpperCase()}_FOLDER`] || __dirname;
  const mode = { ...(inOne ? inCluster : inFork), ...placed(folder) };
  const first = app(side, port, mode, settings);
  const others = Array.from({ length: inOne ? 0 : PROCESSES - 1 }, (_, number) =>
    app(`${side}-${number + 2}`, Number(first.env.PORT) + number + 1, mode, settings),
  );
  return [first, ...others];
}

/** What slows head alone. An empty variable counts as unset, as it does for the apps. */
function slowed() {
  const set = ['INJECT_WORK_PERCENT', 'INJECT_DELAY_MS'].filter((it) => process.env[`HEAD_${it}`]);
  return Object.fromEntries(set.map((it) => [it, process.env[`HEAD_${it}`]]));
}

/** What `settings` names goes before the same in the environment of PM2's caller. */
function app(name, port, mode, settings = {}) {
  const variable = `PORT_${name.toUpperCase().replaceAll('-', '_')}`;
  const env = { NODE_ENV: 'production', PORT: process.env[variable] || String(port), ...settings };
  return { ...mode, name, env };
}

module.exports = {
  apps: [
    app('fork', 3001, inFork),
    app('cluster', 3002, inCluster),

    // Arms of the study: the same server with a setting that makes it what it is.
    app('fork-logging', 3003, inFork, { LOG_REQUESTS: 'true' }),
    app('cluster-logging', 3004, inCluster, { LOG_REQUESTS: 'true' }),
    app('search-per-search', 3005, inFork, { USE_CHILD_PROCESSES: 'true' }),
    app('search-per-carrier', 3006, inFork, { USE_CHILD_PROCESSES: 'per-carrier' }),

    // Three servers for the pi study, and what deals requests to them, and to any other app of such
    // a name.
    app('pi-1', 3011, inFork),
    app('pi-2', 3012, inFork),
    app('pi-3', 3013, inFork),
    app('balancer', 3010, balancer, { BALANCER_SERVERS: '^pi-' }),

    // What merging would change: the base, from a check-out, and the working tree.
    ...compared('base', 3021),
    ...compared('head', 3025, slowed()),
  ],
};
