'use strict';

/**
 * `node read-ecosystem.js ECOSYSTEM MARK` prints the apps of an ecosystem.config.js as PM2 is going
 * to start them in the current folder: one line, MARK and behind it JSON, among whatever the ecosystem itself prints.
 *
 * [{ name, port, exec_mode: 'fork' or 'cluster', instances: counted out, memory_limit: bytes,
 * deals_to, script, cwd, interpreter, args, env, has_own_ports, is_sided }], as pm2.py names them; what an app does not have is left out.
 */

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const common = require('pm2/lib/Common.js');
const config = require('pm2/lib/tools/Config.js');
const which = require('pm2/lib/tools/which.js');

const [ecosystem, mark] = process.argv.slice(2);

/** How PM2 reads `instances`: verifyConfs in its lib/Common.js. */
function asNumber(instances) {
  if (instances === 'max') return 0;
  return typeof instances === 'string' ? parseInt(instances, 10) || 0 : instances;
}

/** How many it starts then: God.prepare in its lib/God.js. */
function started(instances = 1) {
  const asked = Math.trunc(instances);
  return Math.max(1, asked > 0 ? asked : asked + os.cpus().length);
}

/** The file that it runs, or a command's on PATH: prepareAppConf in its lib/Common.js. */
function scriptOf(settings, script) {
  const inPlace = path.resolve(settings.cwd || '', script);
  return fs.existsSync(inPlace) ? inPlace : String((script && which(script)) || inPlace);
}

/** What runs it, which decides on the mode where none is set: prepareAppConf. */
function runnerOf(settings, script) {
  const app = { ...settings, pm_exec_path: script, env: {}, node_args: [] };
  try {
    common.sink.resolveInterpreter(app);
  } catch {
    // PM2 refuses to start it then, and says why.
  }
  common.sink.determineExecMode(app);
  return {
    exec_mode: app.exec_mode.startsWith('cluster') ? 'cluster' : 'fork',
    interpreter: app.exec_interpreter === process.execPath ? 'node' : app.exec_interpreter,
  };
}

/** PM2 takes arguments as a list or as words. */
function words(given = []) {
  return [given]
    .flat()
    .flatMap((each) => String(each).split(/\s+/))
    .filter(Boolean);
}

function described(app, sided) {
  const settings = config.validateJSON({ ...app, instances: asNumber(app.instances) }).config;
  const script = scriptOf(settings, settings.script || app.cmd || app.command || '');
  return {
    name: app.name,
    port: app.env?.PORT,
    ...runnerOf(settings, script),
    instances: started(settings.instances),
    memory_limit: settings.max_memory_restart,
    deals_to: app.env?.BALANCER_SERVERS,
    script,
    cwd: path.resolve(app.cwd || ''),
    args: words(app.args),
    env: Object.fromEntries(Object.entries(app.env ?? {}).map(([key, it]) => [key, String(it)])),
    has_own_ports: settings.increment_var === 'PORT',
    is_sided: sided.includes(app.name),
  };
}

const made = require(ecosystem);
const apps = made.apps.map((app) => described(app, made.sided ?? []));
// An ecosystem may have begun what never ends.
process.stdout.write(`\n${mark}${JSON.stringify(apps)}\n`, () => process.exit(0));
