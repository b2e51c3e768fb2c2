'use strict';

// For one connection only, RFC 9110, section 7.6.1. `expect` is answered by Node itself.
const HOP_BY_HOP = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
const VIA = '1.1 tollgate-balancer';

/**
 * The headers that go on to the next hop: all but those for this connection.
 *
 * @param {string[]} raw names and values in turn, a character a byte, as Node gives them
 * @returns {string[]} the same
 */
function endToEnd(raw) {
  const pairs = pairsOf(raw);
  const named = pairs.filter(([name]) => name.toLowerCase() === 'connection').flatMap(tokens);
  const ofThisHop = new Set([...HOP_BY_HOP, ...named]);
  return pairs.filter(([name]) => !ofThisHop.has(name.toLowerCase())).flat();
}

function pairsOf(raw) {
  return Array.from({ length: raw.length / 2 }, (_, i) => raw.slice(2 * i, 2 * i + 2));
}

function tokens([, value]) {
  return value.split(',').map((token) => token.trim().toLowerCase());
}

/** True for an answer after which the server ends the connection, as one that drains does. */
function saysClose(raw) {
  return pairsOf(raw).some(
    ([name, value]) => name.toLowerCase() === 'connection' && tokens([name, value])[0] === 'close',
  );
}

/** The headers of a request as the server behind gets them. */
function forServer(req) {
  const client = ['X-Forwarded-For', req.socket.remoteAddress ?? 'unknown'];
  return [...endToEnd(req.rawHeaders), ...client, 'Via', VIA];
}

module.exports = { endToEnd, forServer, saysClose };
