#!/bin/sh
# PM2 7.0.4: of node_args in cluster mode, relative files are found from the folder of the daemon.
#
# Guessed: `cwd` of an app is where its Node begins, in both modes. Seen, of an app whose node_args
# are `--require ./hook.cjs`, where the daemon was started from another folder:
#
#   fork      online
#   cluster   stopped; Cannot find module './hook.cjs', in the daemon's log alone
#
# In cluster mode a worker begins in the folder of the daemon, and PM2 changes to `cwd` when Node has
# loaded its modules. The same goes for --import, also of a package such as tsx, and --env-file.
set -eu
work=$(mktemp -d)
mkdir "$work/app" "$work/elsewhere"
export PM2_HOME="$work/home" PM2_DISABLE_VERSION_CHECK=true
trap '"$work/node_modules/.bin/pm2" kill >/dev/null 2>&1; rm -rf "$work"' EXIT
npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$work" pm2@7.0.4
echo 'globalThis.hooked = true;' >"$work/app/hook.cjs"
echo 'setInterval(() => {}, 1000);' >"$work/app/nap.js"
cat >"$work/app/ecosystem.config.js" <<'JS'
const app = {
  script: 'nap.js',
  cwd: __dirname,
  node_args: ['--require', './hook.cjs'],
  instances: 1,
  autorestart: false,
};
module.exports = { apps: ['fork', 'cluster'].map((name) => ({ ...app, name, exec_mode: name })) };
JS
cd "$work/elsewhere"
"$work/node_modules/.bin/pm2" start "$work/app/ecosystem.config.js" >/dev/null
sleep 3

cat >"$work/states.js" <<'JS'
const assert = require('node:assert');
const { execFileSync } = require('node:child_process');
const { readFileSync } = require('node:fs');

const listed = execFileSync(`${__dirname}/node_modules/.bin/pm2`, ['jlist', '--silent'], { encoding: 'utf8' });
const apps = JSON.parse(listed.slice(listed.indexOf('[')));
const seen = Object.fromEntries(apps.map((app) => [app.name, app.pm2_env.status]));
const log = readFileSync(`${process.env.PM2_HOME}/pm2.log`, 'utf8'); // the worker's own has nothing
console.log(seen, /Cannot find module '.*'/.exec(log)?.[0]);
assert.deepEqual([seen.fork, seen.cluster === 'online'], ['online', false]);
assert.match(log, /Cannot find module '\.\/hook\.cjs'/);
JS
node "$work/states.js"
