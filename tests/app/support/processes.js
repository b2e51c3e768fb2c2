'use strict';

const { execFileSync, spawn, spawnSync } = require('node:child_process');
const { once } = require('node:events');
const http = require('node:http');
const net = require('node:net');
const path = require('node:path');
const { setTimeout: wait } = require('node:timers/promises');

const ROOT = path.resolve(__dirname, '..', '..', '..');
const SERVER = path.join(ROOT, 'app', 'server.js');
const BALANCER = path.join(ROOT, 'app', 'balancer.js');

/** An environment without settings that the caller happens to have. */
function cleanEnv(extra) {
  const { PATH, HOME, TMPDIR } = process.env;
  const kept = { PATH, HOME, TMPDIR, ...extra };
  return Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined));
}

/**
 * Starts the real server, or another of the scripts that listen, and collects what it says.
 *
 * @returns {{ child: import('node:child_process').ChildProcess, said: { stdout: string,
 *   stderr: string }, exited: Promise<[number | null, string | null]> }}
 */
function spawnServer(t, env = {}, script = SERVER) {
  const child = spawn(process.execPath, [script], { env: cleanEnv({ PORT: '0', ...env }) });
  const said = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr']) {
    child[stream].setEncoding('utf8').on('data', (text) => {
      said[stream] += text;
    });
  }
  const exited = once(child, 'close');
  t.after(() => child.kill('SIGKILL'));
  return { child, said, exited };
}

/** Starts the real server and waits until it listens; adds its port. */
async function startServer(t, env, script) {
  const server = spawnServer(t, env, script);
  await until(() => server.said.stdout.includes('\n'), 'the server listens');
  return { ...server, port: Number(/:(\d+)\n/.exec(server.said.stdout)[1]) };
}

/** A server in this process, on a port of the system's choosing, until the test ends. */
async function listen(t, handler) {
  const server = http.createServer(handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { server, port: server.address().port };
}

/** Asks again and again; fails when `condition` does not come true within `limitMs`. */
async function until(condition, what, limitMs = 20_000) {
  const giveUpAt = Date.now() + limitMs;
  for (;;) {
    const result = await condition();
    if (result) return result;
    if (Date.now() > giveUpAt) throw new Error(`in vain waited ${limitMs} ms until ${what}`);
    await wait(20);
  }
}

/** Checks something that a busy machine may be too slow for, with ten times as long if it fails. */
async function withPatience(ms, check, more = 2) {
  try {
    return await check(ms);
  } catch (error) {
    if (!more) throw error;
    return withPatience(10 * ms, check, more - 1);
  }
}

function childrenOf(parent) {
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' });
  return table
    .split('\n')
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .filter((match) => match && Number(match[2]) === parent && !match[3].startsWith('ps '))
    .map((match) => Number(match[1]));
}

/** Ends the children of this process with the test: those that a search keeps for a carrier. */
function endChildren(t) {
  t.after(async () => {
    childrenOf(process.pid).forEach((pid) => process.kill(pid, 'SIGKILL'));
    await until(() => childrenOf(process.pid).length === 0, 'no child is left');
  });
}

/** False for a zombie too: who its new parent is, and when that one reaps it, is not ours to say. */
function isAlive(pid) {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() !== '' && !stdout.trim().startsWith('Z');
}

// Below the ports that the system gives to connections by itself: one of those may be taken by
// another test's connection whenever the server that had it is stopped for a while.
const FIRST_PORT = 10_000;
const PORTS_OF_A_FILE = 100;
const FILES = 140;
let asked = 0;

/** A port of the loopback that nothing listens on; files that run at the same time share none. */
async function freePort() {
  for (;;) {
    const port = FIRST_PORT + (process.pid % FILES) * PORTS_OF_A_FILE + (asked++ % PORTS_OF_A_FILE);
    const server = net.createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      (error) => {
        if (error.code !== 'EADDRINUSE') throw error;
        return false;
      },
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}

module.exports = {
  BALANCER,
  childrenOf,
  cleanEnv,
  endChildren,
  freePort,
  isAlive,
  listen,
  ROOT,
  spawnServer,
  startServer,
  until,
  withPatience,
};
