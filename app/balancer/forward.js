'use strict';

const { PassThrough } = require('node:stream');
const { pipeline } = require('node:stream/promises');
const { RequestError } = require('../errors');
const { GatewayError } = require('./errors');
const { endToEnd, forServer } = require('./headers');
const { describe } = require('./upstream');

const REPEATABLE = ['GET', 'HEAD'];
/** What undici refuses before it asks a server: the client's fault, such as a second Host header. */
const REFUSED = ['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED'];

/**
 * Express handler that passes a request on to the server whose turn it is, and its answer back.
 *
 * A server that fails before it has begun to answer is left for the next one, each tried once,
 * if the request is a GET or a HEAD without a body: these may be done twice. All attempts together
 * may take `timeoutMs` until an answer begins. A server that is too slow is not left for another:
 * it may still be at work, and to give the same work to the next one as well would add to the load
 * exactly when there is too much of it; and the client's time is over anyway.
 *
 * @param {import('./servers').Servers} servers
 * @param {{ timeoutMs: number }} settings
 */
function forwarder(servers, { timeoutMs }) {
  return async (req, res) => {
    if (!req.url.startsWith('/')) throw new RequestError('path', req.url, 'one that begins with /');
    const over = new AbortController();
    const timer = setTimeout(() => over.abort(), timeoutMs);
    res.once('close', () => over.abort());
    try {
      const answer = await firstAnswer(servers, req, over.signal);
      clearTimeout(timer);
      if (answer) await passBack(answer, res);
    } catch (error) {
      if (!isGone(req)) throw error;
    } finally {
      clearTimeout(timer);
    }
  };
}

/** @returns the first answer that a server begins, or undefined when the client has gone */
async function firstAnswer(servers, req, signal) {
  const request = asRequest(req, signal);
  const tried = new Map();
  for (;;) {
    const server = servers.next(new Set(tried.keys()));
    if (!server) throw nobody(tried);
    try {
      return { server, ...(await server.request(request)) };
    } catch (error) {
      if (REFUSED.includes(error.code)) {
        throw new RequestError('request', error.message, 'one that can be passed on');
      }
      if (isGone(req)) return undefined;
      if (signal.aborted) throw tooSlow(server, tried);
      server.fail(describe(error));
      tried.set(server, describe(error));
      if (!isRepeatable(req)) throw new GatewayError(502, notRepeated(req), attemptsOf(tried));
    }
  }
}

function asRequest(req, signal) {
  const { method, url: path } = req;
  return { method, path, headers: forServer(req), body: hasBody(req) ? bodyOf(req) : null, signal };
}

/** Not the request itself: a server that fails ends what it is sent, and the client must live. */
function bodyOf(req) {
  const body = req.pipe(new PassThrough());
  return body.once('close', () => req.resume()); // what is left of it is of no use
}

function hasBody({ headers }) {
  return 'transfer-encoding' in headers || Number(headers['content-length'] ?? 0) > 0;
}

function isRepeatable(req) {
  return REPEATABLE.includes(req.method) && !hasBody(req);
}

function isGone(req) {
  return req.socket.destroyed;
}

async function passBack({ server, statusCode, headers, body }, res) {
  body.once('error', (error) => {
    if (!res.destroyed) server.fail(`in the middle of an answer: ${describe(error)}`);
  });
  try {
    res.writeHead(statusCode, [...endToEnd(headers), 'X-Server', server.name]);
  } catch (error) {
    body.destroy();
    res.statusMessage = ''; // that of the answer which is not sent
    const attempts = [{ server: server.name, failure: error.message }];
    throw new GatewayError(502, 'the answer cannot be passed on', attempts);
  }
  await pipeline(body, res); // cuts the client off when the answer breaks off
}

function nobody(tried) {
  if (tried.size === 0) return new GatewayError(503, 'no server is up');
  return new GatewayError(502, 'every server that was up failed', attemptsOf(tried));
}

function notRepeated({ method }) {
  return `the server failed, and a ${method} is not sent twice`;
}

function tooSlow(server, tried) {
  server.doubt();
  const attempts = [...attemptsOf(tried), { server: server.name, failure: 'too slow' }];
  return new GatewayError(504, 'no answer in time; set BALANCER_TIMEOUT_MS to wait', attempts);
}

function attemptsOf(tried) {
  return [...tried].map(([{ name: server }, failure]) => ({ server, failure }));
}

module.exports = { forwarder };
