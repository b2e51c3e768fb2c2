'use strict';

/**
 * The apps of composed.config.js, each with profile-worker.js preloaded: PM2 starts
 * them from here to find out what they compute. TOLLGATE_PROFILE is the folder where each side has
 * one of its name for what its apps find, such as base and base-2. Node's arguments of the app's own
 * come first.
 */

const path = require('node:path');

const { apps } = require('./composed.config.js');

const PRELOADED = path.join(__dirname, 'profile-worker.js');

/** PM2 takes these arguments under three names, as a list or as words. */
function own({ node_args: first, interpreter_args: second, interpreterArgs: third }) {
  const given = first ?? second ?? third ?? [];
  return Array.isArray(given) ? given : given.split(/\s+/).filter(Boolean);
}

function profiled(app) {
  const folder = path.join(process.env.TOLLGATE_PROFILE, app.name.replace(/-\d+$/, ''));
  const added = ['--require', PRELOADED, `--diagnostic-dir=${folder}`];
  return { ...app, node_args: [...own(app), ...added] };
}

module.exports = { apps: apps.map(profiled) };
