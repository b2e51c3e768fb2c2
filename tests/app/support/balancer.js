'use strict';

const http = require('node:http');
const { BALANCER, listen, startServer } = require('./processes');

const QUICK = { PI_POINTS: '100000' };

/** So many real servers. */
function servers(t, count, env = QUICK) {
  return repeat(count, () => startServer(t, env));
}

/** Does it so many times at once. */
function repeat(count, work) {
  return Promise.all(Array.from({ length: count }, work));
}

/**
 * The real balancer in front of a fixed list of servers.
 *
 * @param {number[]} ports of the servers
 */
async function startBalancer(t, ports, env = {}) {
  const list = ports.map((port) => `http://127.0.0.1:${port}`).join(',');
  const balancer = await startServer(t, { BALANCER_UPSTREAMS: list, ...env }, BALANCER);
  return { ...balancer, ...clientOf(t, balancer.port) };
}

/** `ask` over connections that are kept alive, as JMeter's are; and what the balancer thinks. */
function clientOf(t, port) {
  const agent = new http.Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  const ask = (path, options) => request({ port, path, agent, ...options });
  const view = async () => JSON.parse((await ask('/balancer/healthz')).body);
  const statuses = async () => (await view()).servers.map(({ status }) => status);
  return { agent, ask, view, statuses };
}

/** Rejects when there is no complete answer. */
function request({ body: sent, ...options }) {
  return new Promise((resolve, reject) => {
    const asked = http.request({ host: '127.0.0.1', ...options }, async (response) => {
      try {
        let body = '';
        for await (const text of response.setEncoding('latin1')) body += text;
        const { statusCode: status, headers } = response;
        resolve({ status, headers, body, server: headers['x-server'] });
      } catch (error) {
        reject(error);
      }
    });
    asked.on('error', reject);
    asked.end(sent);
  });
}

/** `users` that ask without a pause until `over()`; their answers in the order of arrival. */
async function underLoad(ask, path, users, work) {
  const answers = [];
  let over = false;
  const user = async () => {
    while (!over) answers.push(await ask(path));
  };
  const all = repeat(users, user);
  try {
    await Promise.race([work(answers), all]); // a user who fails ends it all
  } finally {
    over = true;
  }
  await all;
  return answers;
}

/** A server in this process that does as `handler` says, and is well unless it says otherwise. */
async function fakeServer(t, handler) {
  const asked = [];
  const { port } = await listen(t, (req, res) => {
    if (req.url === '/healthz') return res.end('{}');
    asked.push(req);
    return handler(req, res);
  });
  return { asked, port };
}

/** How many answers each server gave. */
function shares(answers) {
  const counts = {};
  for (const { server } of answers) counts[server] = (counts[server] ?? 0) + 1;
  return counts;
}

module.exports = {
  clientOf,
  fakeServer,
  QUICK,
  repeat,
  request,
  servers,
  shares,
  startBalancer,
  underLoad,
};
