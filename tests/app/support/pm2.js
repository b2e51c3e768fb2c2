'use strict';

const { execFile, execFileSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { promisify } = require('node:util');
const { cleanEnv, freePort, ROOT } = require('./processes');

/** The folder of PM2, which Tollgate installs apart from the packages of its suites. */
const PM2 = execFileSync(
  path.join(ROOT, '.venv', 'bin', 'python'),
  ['-c', 'from tollgate.install.tools import node_package; print(node_package("pm2"))'],
  { cwd: ROOT, encoding: 'utf8' },
).trim();
const COMMAND = path.join(PM2, 'bin', 'pm2');
const ECOSYSTEM = path.join(ROOT, 'ecosystem.config.js');
const APPS = require(ECOSYSTEM).apps.map(({ name }) => name);

/**
 * A PM2 of the test's own, which ends with the test.
 *
 * @returns {Promise<{ pm2: (...args: string[]) => Promise<string>, home: string,
 *   list: () => Promise<object[]>, env: Record<string, string>, ports: Record<string, number> }>} `ports` by app
 */
async function ownPm2(t, settings = {}) {
  // A short path: the names of PM2's sockets may have 107 bytes.
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'tg-'));
  const ports = Object.fromEntries(
    await Promise.all(APPS.map(async (name) => [name, await freePort()])),
  );
  const env = cleanEnv({
    PM2_HOME: home,
    PM2_DISABLE_VERSION_CHECK: 'true', // nothing here needs the network
    PM2_PACKAGE: PM2,
    NODE_PATH: path.dirname(PM2),
    ...Object.fromEntries(APPS.map((name) => [variable(name), String(ports[name])])),
    ...settings,
  });
  const pm2 = async (...args) =>
    (await promisify(execFile)(process.execPath, [COMMAND, ...args], { env, cwd: home })).stdout;
  t.after(async () => {
    await pm2('kill');
    fs.rmSync(home, { recursive: true, force: true });
  });
  const list = async () => JSON.parse(await pm2('jlist', '--silent'));
  return { pm2, home, list, env, ports };
}

/** `pi-1` has its port in PORT_PI_1. */
function variable(app) {
  return `PORT_${app.toUpperCase().replaceAll('-', '_')}`;
}

module.exports = { PM2, ECOSYSTEM, ownPm2 };
