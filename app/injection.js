'use strict';

const { performance } = require('node:perf_hooks');

/**
 * Express middleware that slows every answer behind it by a known amount, and says by how much.
 *
 * - `workPercent` occupies the event loop, as slower code would, for that share of the request's
 *   own work: the time during which the target itself occupied it, from its routing to its answer
 *   made ready, waits left out. A target that works after a wait says so with
 *   `res.locals.resumeWork(ms)`.
 * - `delayMs` waits that long and more by up to some 2 ms; the event loop is free meanwhile.
 *
 * Work is taken as time on the wall, not on the CPU: when the machine is busy a request's own work
 * stretches, and extra work must stretch alike to stay the same share of it.
 *
 * Every answer carries `Server-Timing`, in milliseconds: `handler` from arrival to answer made
 * ready, `work` the part of it that occupied the event loop (in child processes too), `injected`
 * what was added. With both at 0 nothing is added and the same code measures, so that a slowed
 * server and one that is not differ by the injection alone.
 *
 * @param {{ delayMs: number, workPercent: number }} amount
 */
function slowDown({ delayMs, workPercent }) {
  return (req, res, next) => {
    const arrivedAt = performance.now();
    const { end } = res;
    let workMs = 0;
    let stretchAt = arrivedAt; // start of the stretch of work under way, NaN while waiting

    /** The target works again, `ms` of work having been done elsewhere meanwhile. */
    res.locals.resumeWork = (ms) => {
      workMs += ms;
      stretchAt = performance.now();
    };

    res.end = function endLater(...args) {
      res.end = end;
      const readyAt = performance.now();
      workMs += readyAt - stretchAt || 0;
      const handlerMs = readyAt - arrivedAt;
      stretchAt = NaN;
      spin(readyAt, (workMs * workPercent) / 100);
      atLeast(delayMs, () => {
        tell(res, { handler: handlerMs, work: workMs, injected: performance.now() - readyAt });
        end.apply(res, args);
      });
      return res;
    };

    next();
    // Back here the target has answered, or waits for something.
    workMs += performance.now() - stretchAt || 0;
    stretchAt = NaN;
  };
}

function spin(from, ms) {
  while (performance.now() - from < ms);
}

/** Calls back after `ms` or later, never before: timers count whole milliseconds and may be early. */
function atLeast(ms, callback) {
  if (ms <= 0) return callback();
  const due = performance.now() + ms;
  const check = () => {
    const left = due - performance.now();
    return left > 0 ? setTimeout(check, Math.ceil(left)) : callback();
  };
  return check();
}

function tell(res, durations) {
  if (res.headersSent) return;
  const entries = Object.entries(durations).map(([name, ms]) => `${name};dur=${ms.toFixed(3)}`);
  res.setHeader('Server-Timing', entries.join(', '));
}

module.exports = { slowDown };
