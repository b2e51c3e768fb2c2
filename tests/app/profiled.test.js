'use strict';

const assert = require('node:assert/strict');
const path = require('node:path');
const { test } = require('node:test');
const { ECOSYSTEM } = require('./support/pm2');

const PROFILED = '../../scripts/tollgate/targets/profiled.config.js';

test("the profiler comes behind Node's arguments of an app's own, under whatever name", () => {
  const own = [
    { node_args: '--max-old-space-size=99  --expose-gc' },
    { interpreter_args: ['--expose-gc'] },
    { interpreterArgs: '--expose-gc' },
    {},
  ];
  const { apps } = require(ECOSYSTEM);
  own.forEach((given, at) => Object.assign(apps[at], given));
  process.env.TOLLGATE_PROFILE = '/found here';
  const profiled = require(PROFILED).apps;
  assert.deepEqual(
    own.map((_, at) => profiled[at].node_args.slice(0, -3)),
    [['--max-old-space-size=99', '--expose-gc'], ['--expose-gc'], ['--expose-gc'], []],
  );
  for (const [at, { name, script, node_args: args }] of profiled.entries()) {
    assert.deepEqual([name, script], [apps[at].name, apps[at].script]);
    const [required, file, folder] = args.slice(-3);
    assert.deepEqual([required, path.basename(file)], ['--require', 'profile-worker.js']);
    const side = name.replace(/-\d+$/, ''); // base-2 is another process of base
    assert.equal(folder, `--diagnostic-dir=${path.join('/found here', side)}`);
  }
});
