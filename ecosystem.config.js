'use strict';

const path = require('node:path');
const { DRAIN_LIMIT_MS } = require('./app/drain');

// The PM2 topology, and the only place where ports and instances are named. PM2 hands its caller's
// whole environment to the apps, so that app/settings.js sees e.g. INJECT_DELAY_MS; read here are
// MEMORY_LIMIT and, for each app, its port: PORT_FORK, PORT_PI_1 and so on. A comparison makes base
// and head of `fork`, on its port and those behind it.
const memoryLimit = process.env.MEMORY_LIMIT || '512M';

const common = {
  // PM2 takes a `script` that holds a space for a command of the shell.
  script: path.join('app', 'server.js'),
  cwd: __dirname,

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
  ],
};
