'use strict';

/**
 * The apps of the suite's file of PM2, TOLLGATE_ECOSYSTEM, as a run starts them, and the copies of
 * them that TOLLGATE_APPS asks for (copies.py): one instead of the app of its name, or beside the
 * others.
 *
 * In cwd, script, interpreter, arguments and env of each app, ${PORT} is its port, ${SIDE} base or
 * head in a comparison and else the app's name, ${PROCESS} the number of the copy on its side, from 1.
 */

const fs = require('node:fs');
const path = require('node:path');

// PM2's own, of the version that starts the apps.
const common = require(path.join(process.env.PM2_PACKAGE, 'lib/Common.js'));

/** What names files: copies must not write into each other's. */
const FILES = [
  ...['out_file', 'error_file', 'log_file', 'pid_file', 'pid', 'log'],
  ...['out', 'output', 'error', 'out_log', 'err_log', 'err_file', 'err', 'logfile', 'pidfile'],
];
/** What only Node does. */
const NODE_ALONE = ['node_args', 'interpreter_args', 'interpreterArgs', 'wait_ready'];

/** Whatever holds text, with each text changed. */
function everywhere(value, change) {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((each) => everywhere(each, change));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, everywhere(v, change)]));
}

/** A path of the one folder, or below it, becomes that of the other; so do those within a text. */
function moved(from, to) {
  if (!from) return (text) => text;
  const literal = from.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const place = new RegExp(`(?<![^\\s=:;,'"])${literal}(?=$|[/\\s:;,'"])`, 'g');
  return (text) => text.replace(place, () => to);
}

function without(app, names) {
  return Object.fromEntries(Object.entries(app).filter(([name]) => !names.includes(name)));
}

function expanded(app, { port, side, process: number }, change) {
  const values = { PORT: port, SIDE: side, PROCESS: number };
  const replace = (text) => text.replace(/\$\{(PORT|SIDE|PROCESS)\}/g, (_, name) => values[name]);
  return { ...everywhere(app, (text) => change(replace(text))), name: app.name, watch: false };
}

function declared(app) {
  const port = app.env?.PORT;
  const cwd = path.resolve(app.cwd || '.');
  return expanded({ ...app, cwd }, { port, side: app.name, process: 1 }, (text) => text);
}

function copied(app, copy) {
  const { name, exec_mode: mode, instances, from_folder, to_folder, node, env, ...place } = copy;
  const own = app.increment_var === 'PORT' ? ['increment_var'] : [];
  const left = [...FILES, ...own, ...(node ? [] : NODE_ALONE)];
  const all = { ...without(app, left), name, exec_mode: mode, instances };
  const cwd = path.resolve(app.cwd || '.');
  const found = expanded({ ...all, cwd }, place, moved(from_folder, to_folder));
  return { ...found, env: { ...found.env, PORT: String(place.port), ...env } };
}

/** What PM2's file declares, whatever its form: _startJson in PM2's lib/API.js. */
function declaredIn(file) {
  const made = common.parseConfig(fs.readFileSync(file, 'utf8'), file) ?? {};
  if (typeof made === 'function' || typeof made.then === 'function') {
    throw new Error(
      'it exports a function or a promise, which PM2 takes for no apps: export {apps}',
    );
  }
  return [made.apps || made.pm2 || made].flat().map(named);
}

/** An app with what PM2 fills in before it starts one: verifyConfs in its lib/Common.js. */
function named(app, index) {
  if (Object(app) !== app) {
    throw new Error(`app ${index + 1} is ${JSON.stringify(app)}: write its script and name`);
  }
  const { cmd, command, port, ...others } = app;
  const made = { ...others, script: app.script || cmd || command || app.exec };
  common.renderApplicationName(made);
  if (port) made.env = { ...app.env, PORT: port };
  return made.script?.includes(' ') ? { ...made, script: 'bash', args: ['-c', made.script] } : made;
}

// PM2 is called in the suite's folder.
const apps = declaredIn(process.env.TOLLGATE_ECOSYSTEM);
const asked = JSON.parse(process.env.TOLLGATE_APPS || '[]');
const copies = asked.map((copy) => {
  const original = apps.find((app) => app.name === copy.of);
  return copied(original, copy);
});
const made = new Set(copies.map(({ name }) => name));
/** The names of copies whose settings hold ${SIDE}: base and head get other ones. */
const sided = asked
  .filter(({ of }) => JSON.stringify(apps.find(({ name }) => name === of)).includes('${SIDE}'))
  .map(({ name }) => name);

module.exports = {
  apps: [...apps.filter(({ name }) => !made.has(name)).map(declared), ...copies],
  sided,
};
