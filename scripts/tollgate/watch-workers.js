'use strict';

/**
 * Prints what PM2 knows of each worker, one JSON line a worker and second, over one long-lived
 * connection. Ends when its standard input closes, so that it can't outlive the run.
 *
 * Line: { time: ms since the epoch, app, worker, pid, status, mode, restarts, rss: bytes,
 * cpu: % of a core, heap: bytes or null, loopDelayP50: ms or null, loopDelayP95: ms or null }
 */

const pm2 = require('pm2');

const PERIOD_MS = 1000;
/** PM2 may be gone by the last look; the run must not wait for it. */
const LAST_LOOK_MS = 2000;
const MIB = 1024 * 1024;

function metric(env, name, factor = 1) {
  const value = Number.parseFloat(env.axm_monitor?.[name]?.value);
  return Number.isFinite(value) ? value * factor : null;
}

function line(time, worker) {
  const env = worker.pm2_env;
  return JSON.stringify({
    time,
    app: worker.name,
    worker: env.NODE_APP_INSTANCE ?? env.pm_id,
    pid: worker.pid,
    status: env.status,
    mode: env.exec_mode.replace('_mode', ''),
    restarts: env.restart_time,
    rss: worker.monit.memory,
    cpu: worker.monit.cpu,
    heap: metric(env, 'Used Heap Size', MIB),
    loopDelayP50: metric(env, 'Event Loop Latency'),
    loopDelayP95: metric(env, 'Event Loop Latency p95'),
  });
}

function fail(error) {
  process.stderr.write(`watch-workers: PM2 does not answer: ${error.message ?? error}\n`);
  process.exit(1);
}

function look(done = () => {}) {
  pm2.list((error, workers) => {
    if (error) fail(error);
    const time = Date.now();
    process.stdout.write(workers.map((worker) => `${line(time, worker)}\n`).join(''));
    done();
  });
}

/** One more look, so that a worker that died in the last second is not missed. */
function lookAndLeave() {
  const leave = () => process.exit(0);
  look(leave);
  setTimeout(leave, LAST_LOOK_MS);
}

process.stdin.on('end', lookAndLeave).resume();
process.on('SIGINT', () => {}); // Ctrl-C reaches the whole terminal; the run closes standard input
pm2.connect((error) => {
  if (error) fail(error);
  look();
  setInterval(() => look(), PERIOD_MS);
});
