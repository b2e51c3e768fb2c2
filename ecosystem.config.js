'use strict';

const path = require('node:path');
const { DRAIN_LIMIT_MS } = require('./app/drain');

// The PM2 topology, and the only place where ports and instances are named. PM2 hands its caller's
// whole environment to the apps, so that app/settings.js sees e.g. INJECT_DELAY_MS; PORT_FORK,
// PORT_CLUSTER, PORT_PI_1 to PORT_PI_3, PORT_BALANCER and MEMORY_LIMIT are read here.
const portFork = process.env.PORT_FORK || '3001';
const portCluster = process.env.PORT_CLUSTER || '3002';
const portBalancer = process.env.PORT_BALANCER || '3010';
const portsPi = ['1', '2', '3'].map((i) => process.env[`PORT_PI_${i}`] || `301${i}`);
const memoryLimit = process.env.MEMORY_LIMIT || '512M';

const common = {
  script: path.join(__dirname, 'app', 'server.js'),
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

module.exports = {
  apps: [
    {
      ...common,
      name: 'fork',
      exec_mode: 'fork',
      instances: 1,
      env: { NODE_ENV: 'production', PORT: portFork },
    },
    {
      ...common,
      name: 'cluster',
      exec_mode: 'cluster',
      instances: 'max',
      env: { NODE_ENV: 'production', PORT: portCluster },
    },
    // For the pi study: three servers of one process each, and what deals requests to them. It
    // finds any other app named pi-* too.
    ...portsPi.map((port, i) => ({
      ...common,
      name: `pi-${i + 1}`,
      exec_mode: 'fork',
      instances: 1,
      env: { NODE_ENV: 'production', PORT: port },
    })),
    {
      ...common,
      script: path.join(__dirname, 'app', 'balancer.js'),
      name: 'balancer',
      exec_mode: 'fork',
      instances: 1,
      env: { NODE_ENV: 'production', PORT: portBalancer },
    },
  ],
};
