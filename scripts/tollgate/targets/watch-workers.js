'use strict';

/**
 * Prints what PM2 knows of each worker, one JSON line a worker and second, and one for each process
 * that ended or came online, over one long-lived connection. Ends when its standard input closes, so
 * that it can't outlive the run.
 *
 * Line of a look: { time: ms since the epoch, app, worker, pid, status, mode, restarts, rss: bytes,
 * cpu: % of a core, heap: bytes, loopDelayP50: ms, loopDelayP95: ms, requests: answered so far by
 * that pid }; null where PM2 does not know, as for the memory of a process that is just being born. Of
 * an app that Node does not run, rss and cpu are of all that its process has started, too.
 *
 * Line of an event: { time: ms, by PM2's own clock, app, worker, pid, event: 'exit' or 'online',
 * byPm2: for 'exit', whether PM2 ended the process, as for a reload; otherwise it died }; pid 0 for
 * a process that was gone before its number could be read.
 */

const fs = require('node:fs');
const path = require('node:path');
const pidusage = require('pidusage'); // as PM2 measures
const pm2 = require('pm2');

/** What PM2 knows each vital by that a worker tells of itself: the names of app/vitals.js. */
const VITALS = {
  time: 'Tollgate Time',
  requests: 'Tollgate Requests',
  heap: 'Tollgate Heap',
  loopDelayP50: 'Tollgate Loop Delay p50',
  loopDelayP95: 'Tollgate Loop Delay p95',
};

const PERIOD_MS = 1000;
/** PM2 may be gone by the last look; the run must not wait for it. */
const LAST_LOOK_MS = 2000;
/** Vitals come every second; those of a worker whose event loop is blocked are of another second. */
const STALE_MS = 2500;
const MIB = 1024 * 1024;

/** Pids by generation: PM2's events don't name the process, but tell when it was started. */
const pids = new Map();
/** The generation of each worker whose end was reported last: PM2 does so twice when it ends one. */
const ended = new Map();
let events = Promise.resolve();

function metric(env, name, factor = 1) {
  const value = Number.parseFloat(env.axm_monitor?.[name]?.value);
  return Number.isFinite(value) ? value * factor : null;
}

/** What the worker tells of itself (app/vitals.js); of another service, PM2's own metrics. */
function vitals(time, env) {
  const reported = metric(env, VITALS.time);
  if (reported === null) {
    return {
      heap: metric(env, 'Used Heap Size', MIB),
      loopDelayP50: metric(env, 'Event Loop Latency'),
      loopDelayP95: metric(env, 'Event Loop Latency p95'),
      requests: null,
    };
  }
  const isFresh = time - reported <= STALE_MS;
  return {
    heap: metric(env, VITALS.heap),
    loopDelayP50: isFresh ? metric(env, VITALS.loopDelayP50) : null,
    loopDelayP95: isFresh ? metric(env, VITALS.loopDelayP95) : null,
    requests: metric(env, VITALS.requests),
  };
}

/** A worker keeps its number when it is reloaded; PM2 renames the process that leaves `_old_3`. */
function workerOf(env) {
  return env.NODE_APP_INSTANCE ?? Number(String(env.pm_id).replace('_old_', ''));
}

function generation(env) {
  return `${env.name} ${workerOf(env)} ${env.pm_uptime}`;
}

function isTold(env) {
  const place = `${env.name} ${workerOf(env)}`;
  const isKnown = ended.get(place) === env.pm_uptime;
  ended.set(place, env.pm_uptime);
  return isKnown;
}

/** The processes that one has started, and those that these have, as far as Linux tells. */
function descendants(pid) {
  try {
    const tasks = fs.readdirSync(`/proc/${pid}/task`);
    const texts = tasks.map((it) => fs.readFileSync(`/proc/${pid}/task/${it}/children`, 'utf8'));
    const children = texts.flatMap((it) => it.split(' ').filter(Boolean).map(Number));
    return [...children, ...children.flatMap(descendants)];
  } catch {
    return []; // it has ended
  }
}

/** What PM2 measured of a process, and, of one that Node does not run, of its descendants. */
async function usage({ pid, pm2_env: env, monit }) {
  const isNode = /^(node|bun)/.test(path.basename(env.exec_interpreter ?? 'node'));
  const below = isNode || !pid ? [] : descendants(pid);
  // One that ended since has no figures.
  const found = await Promise.all(below.map((it) => pidusage(it).catch(() => null)));
  return found
    .filter(Boolean)
    .reduce((sum, { memory, cpu }) => ({ memory: sum.memory + memory, cpu: sum.cpu + cpu }), monit);
}

async function line(time, worker) {
  const env = worker.pm2_env;
  // PM2 writes 0 for the memory of a process that is not there, or not yet.
  const { memory: rss, cpu } = await usage(worker);
  return {
    time,
    app: worker.name,
    worker: workerOf(env),
    pid: worker.pid ?? 0,
    status: env.status,
    mode: env.exec_mode.replace('_mode', ''),
    restarts: env.restart_time,
    rss: rss || null,
    cpu: rss ? cpu : null,
    ...vitals(time, env),
  };
}

function print(lines) {
  process.stdout.write(lines.map((each) => `${JSON.stringify(each)}\n`).join(''));
}

function fail(error) {
  process.stderr.write(`watch-workers: PM2 does not answer: ${error.message ?? error}\n`);
  process.exit(1);
}

function look(done = () => {}) {
  pm2.list(async (error, workers) => {
    if (error) fail(error);
    const time = Date.now();
    remember(workers);
    print(await Promise.all(workers.map((worker) => line(time, worker))));
    done();
  });
}

function remember(workers) {
  for (const worker of workers) {
    if (worker.pid) pids.set(generation(worker.pm2_env), worker.pid);
  }
}

/** Asks PM2 for the pid of a process that no look has seen yet. */
function learnPid(env) {
  return new Promise((resolve) => {
    pm2.list((error, workers) => {
      if (!error) remember(workers);
      resolve(pids.get(generation(env)) ?? 0);
    });
  });
}

async function tell({ at: time, event, process: env }) {
  if (event === 'exit' && isTold(env)) return;
  const pid = pids.get(generation(env)) ?? (await learnPid(env));
  const of = { time, app: env.name, worker: workerOf(env), pid, event };
  print([event === 'exit' ? { ...of, byPm2: env.status === 'stopping' } : of]);
  if (event === 'exit') pids.delete(generation(env));
}

function listen() {
  pm2.launchBus((error, bus) => {
    if (error) fail(error);
    bus.on('process:event', (message) => {
      if (message.event !== 'exit' && message.event !== 'online') return;
      events = events.then(() => tell(message)); // in PM2's order
    });
  });
}

/** One more look, so that a worker that died in the last second is not missed. */
function lookAndLeave() {
  const leave = () => process.exit(0);
  look(() => events.then(leave));
  setTimeout(leave, LAST_LOOK_MS);
}

process.stdin.on('end', lookAndLeave).resume();
// Ctrl-C and a hang-up reach the whole terminal; the run closes standard input when it ends, and
// under nohup goes on, whose ignoring of SIGHUP Node has undone.
for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => {});
pm2.connect((error) => {
  if (error) fail(error);
  listen();
  look();
  setInterval(() => look(), PERIOD_MS);
});
