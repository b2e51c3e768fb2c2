'use strict';

const { monitorEventLoopDelay } = require('node:perf_hooks');

const PERIOD_MS = 1000;
const RESOLUTION_MS = 10;
const NS_PER_MS = 1e6;

/** What PM2 knows each vital by; PM2's own metrics of a process have other names. */
const VITALS = {
  time: 'Tollgate Time',
  requests: 'Tollgate Requests',
  heap: 'Tollgate Heap',
  loopDelayP50: 'Tollgate Loop Delay p50',
  loopDelayP95: 'Tollgate Loop Delay p95',
};

/**
 * Under PM2, tells PM2 once a second, for whoever watches the workers: the time in ms since the
 * epoch, how many requests this process has answered so far, its heap in use in bytes, and the
 * event-loop delay of the last second in ms. Without PM2 it does nothing.
 *
 * @param {import('node:http').Server} server
 */
function reportVitals(server) {
  if (!process.send) return;
  let requests = 0;
  const answered = () => {
    requests += 1;
  };
  server.on('request', (_req, res) => res.once('finish', answered));

  const loop = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  loop.enable();
  tell({ requests, loopDelayP50: null, loopDelayP95: null });
  const timer = setInterval(() => {
    if (!process.connected) return clearInterval(timer); // PM2 let go of this process
    // After a block both timers are due: let the histogram see it before it is emptied.
    return setImmediate(() => {
      tell({ requests, ...loopDelay(intervals(loop)) });
      loop.reset();
    });
  }, PERIOD_MS);
  timer.unref();
}

function tell(vitals) {
  const all = { time: Date.now(), heap: process.memoryUsage().heapUsed, ...vitals };
  const data = Object.entries(all).map(([key, value]) => [VITALS[key], { value }]);
  const message = { type: 'axm:monitor', data: Object.fromEntries(data) };
  if (process.connected) process.send(message, undefined, undefined, () => {});
}

/** Every interval between two turns of the histogram's timer, in ms; about a hundred a second. */
function intervals(histogram) {
  const { count } = histogram;
  return Array.from(
    { length: count },
    (_, i) => histogram.percentile((100 * (i + 1)) / count) / NS_PER_MS,
  );
}

/**
 * How long something that became ready at a random moment waited for the event loop, in ms. The
 * clock ticks in milliseconds: an idle loop reads 0 to 1.
 *
 * The timer runs every RESOLUTION_MS, so what an interval has above that is how long its turn had to
 * wait. A loop that is blocked misses further turns, which would each have waited a resolution less;
 * without them a block of 200 ms would be one turn of eighty and invisible at p95. (Gil Tene's
 * correction for coordinated omission, as HdrHistogram's recordValueWithExpectedInterval does it.)
 *
 * @param {number[]} found intervals in ms
 * @returns {{ loopDelayP50: number | null, loopDelayP95: number | null }} null without a turn
 */
function loopDelay(found) {
  const waits = found.flatMap((interval) => {
    const wait = Math.max(interval - RESOLUTION_MS, 0);
    const turns = Math.max(Math.ceil(wait / RESOLUTION_MS), 1);
    return Array.from({ length: turns }, (_, missed) => wait - missed * RESOLUTION_MS);
  });
  waits.sort((a, b) => a - b);
  const rank = (share) => waits[Math.ceil(share * waits.length) - 1];
  const percentile = (share) => (waits.length > 0 ? Number(rank(share).toFixed(3)) : null);
  return { loopDelayP50: percentile(0.5), loopDelayP95: percentile(0.95) };
}

module.exports = { loopDelay, reportVitals, VITALS };
