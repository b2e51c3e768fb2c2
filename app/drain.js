'use strict';

const cluster = require('node:cluster');
const net = require('node:net');

/** For how long a server that is to stop may finish what it has begun, in milliseconds. */
const DRAIN_LIMIT_MS = 10_000;
/**
 * For how long a connection must have been silent before it is closed, in milliseconds. A client
 * that has not used it for less than that may use it again without a look at whether it is still
 * there: JMeter looks after 4,900 ms (httpclient4.validate_after_inactivity), and a request on a
 * connection that was closed sooner is lost.
 */
const QUIET_MS = 5_500;
const SWEEP_MS = 200;

/**
 * Ends a server without losing a request, then the process: exit code 0, or 1 with a line on
 * stderr when requests were still unfinished after `limitMs`.
 *
 * Clients keep idle connections for their next request, and requests that look idle may wait unread
 * in their sockets while the event loop is busy. So idle connections are not closed at once, as
 * http.Server's own close() does: every answer now ends its connection, and what has stayed silent
 * for `quietMs` since the signal is swept away.
 *
 * @param {import('node:http').Server} server
 * @param {{ limitMs?: number, quietMs?: number, exit?: (code: number) => void }} [options]
 * @returns {() => void} begins the drain; calling it again does nothing
 */
function drainer(server, options = {}) {
  const { limitMs = DRAIN_LIMIT_MS, quietMs = QUIET_MS, exit = process.exit } = options;
  const inFlight = new Set();
  let draining = false;

  server.prependListener('request', (req, res) => {
    inFlight.add(res);
    res.once('close', () => inFlight.delete(res));
    if (draining) lastOfConnection(res);
  });

  const sweep = () => {
    if (inFlight.size > 0) server.closeIdleConnections();
    else server.closeAllConnections(); // also those that have never asked anything
  };

  return () => {
    if (draining) return;
    draining = true;
    inFlight.forEach(lastOfConnection);
    afterNextPoll(() => net.Server.prototype.close.call(server, () => leave(exit)));
    // Open connections keep the process alive, these timers need not.
    setTimeout(() => setInterval(() => afterNextPoll(sweep), SWEEP_MS).unref(), quietMs).unref();
    setTimeout(() => {
      const cut = `tollgate: ${inFlight.size} requests cut off, ${limitMs} ms after the signal\n`;
      process.stderr.write(cut, 'utf8', () => exit(1));
    }, limitMs).unref();
  };
}

function lastOfConnection(res) {
  if (!res.headersSent) res.setHeader('Connection', 'close');
}

/** Once the event loop has taken up all connections and requests that have arrived by now. */
function afterNextPoll(callback) {
  setTimeout(() => setImmediate(callback), 0);
}

/**
 * Exits, but not before a cluster's primary has confirmed that this worker is out of the deal: a
 * connection that is on its way here goes back then and to another worker. If the worker were gone
 * already, it would stay open and unanswered for ever.
 */
function leave(exit) {
  if (!cluster.isWorker || !process.connected) return exit(0);
  process.once('disconnect', () => exit(0));
  return cluster.worker.disconnect();
}

/** Drains on SIGINT (PM2, Ctrl-C), SIGTERM, and the message PM2 sends where signals are missing. */
function drainOnSignals(server) {
  const drain = drainer(server);
  process.on('SIGINT', drain);
  process.on('SIGTERM', drain);
  process.on('message', (message) => message === 'shutdown' && drain());
}

module.exports = { DRAIN_LIMIT_MS, QUIET_MS, drainer, drainOnSignals };
