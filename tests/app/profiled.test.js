'use strict';

const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const { ECOSYSTEM } = require('./support/pm2');

const TARGETS = '../../scripts/tollgate/targets';
const PROFILED = `${TARGETS}/profiled.config.js`;

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

test('a process that is busy for longer than a block loses no block that follows', (t) => {
  const found = fs.mkdtempSync(path.join(os.tmpdir(), 'tollgate-profile-'));
  t.after(() => fs.rmSync(found, { recursive: true }));
  fs.mkdirSync(path.join(found, 'head'));
  const draft = path.join(found, 'draft');
  const schedule = path.join(found, 'schedule.json');
  // The schedule is there, blocks of 100 ms begin soon, and the process is busy through three of them.
  const busy = `
    const fs = require('node:fs');
    const begin = Date.now() + 1000;
    const blocks = [0, 150, 300, 450].map((at) => ({ from: begin + at, to: begin + at + 100 }));
    fs.writeFileSync(${JSON.stringify(draft)}, JSON.stringify(blocks));
    fs.renameSync(${JSON.stringify(draft)}, ${JSON.stringify(schedule)});
    setTimeout(() => { while (Date.now() < begin + 420); }, begin + 50 - Date.now());
    setTimeout(() => {}, begin + 2000 - Date.now());`;
  const worker = require.resolve(`${TARGETS}/profile-worker.js`);
  const options = ['--require', worker, `--diagnostic-dir=${path.join(found, 'head')}`, '-e', busy];
  const { status, stderr } = spawnSync(process.execPath, options, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  const files = fs.readdirSync(path.join(found, 'head'));
  const lines = files.find((name) => name.endsWith('.jsonl'));
  const blocks = fs
    .readFileSync(path.join(found, 'head', lines), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  // Of those that had begun when the process read the schedule it writes nothing.
  assert.deepEqual(
    blocks.map(({ block }) => block),
    [0, 1, 2, 3].slice(-blocks.length),
  );
  const kept = files.filter((name) => name.endsWith('.cpuprofile'));
  assert.equal(kept.length, blocks.filter(({ profiled }) => profiled).length);
});
