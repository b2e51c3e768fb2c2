'use strict';

const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const { ECOSYSTEM, PM2 } = require('./support/pm2');

const TARGETS = '../../scripts/tollgate/targets';
const PROFILED = `${TARGETS}/profiled.config.js`;

test("the profiler comes behind Node's arguments of an app's own, under whatever name", (t) => {
  const own = [
    { node_args: '--max-old-space-size=99  --expose-gc' },
    { interpreter_args: ['--expose-gc'] },
    { interpreterArgs: '--expose-gc' },
    {},
  ];
  const { apps } = require(ECOSYSTEM);
  own.forEach((given, at) => Object.assign(apps[at], given));
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tollgate-apps-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  process.env.TOLLGATE_ECOSYSTEM = path.join(folder, 'ecosystem.json');
  fs.writeFileSync(process.env.TOLLGATE_ECOSYSTEM, JSON.stringify({ apps }));
  process.env.PM2_PACKAGE = PM2;
  process.env.TOLLGATE_PROFILE = '/found here';
  const found = require(PROFILED).apps;
  assert.deepEqual(
    own.map((_, at) => found[at].node_args.slice(0, -3)),
    [['--max-old-space-size=99', '--expose-gc'], ['--expose-gc'], ['--expose-gc'], []],
  );
  for (const [at, { name, script, node_args: args }] of found.entries()) {
    assert.deepEqual([name, script], [apps[at].name, apps[at].script]);
    const [required, file, directory] = args.slice(-3);
    assert.deepEqual([required, path.basename(file)], ['--require', 'profile-worker.js']);
    const side = name.replace(/-\d+$/, ''); // base-2 is another process of base
    assert.equal(directory, `--diagnostic-dir=${path.join('/found here', side)}`);
  }
});

/** Runs code in a process that is profiled by the schedule that it writes: `plan(blocks)`. */
function profiled(t, code, ...options) {
  const found = fs.mkdtempSync(path.join(os.tmpdir(), 'tollgate-profile-'));
  t.after(() => fs.rmSync(found, { recursive: true }));
  const head = path.join(found, 'head');
  fs.mkdirSync(head);
  const plan = `
    const fs = require('node:fs');
    const plan = (blocks) => {
      fs.writeFileSync(${JSON.stringify(path.join(found, 'draft'))}, JSON.stringify(blocks));
      fs.renameSync(${JSON.stringify(path.join(found, 'draft'))}, ${JSON.stringify(path.join(found, 'schedule.json'))});
    };`;
  const worker = require.resolve(`${TARGETS}/profile-worker.js`);
  const given = ['--require', worker, `--diagnostic-dir=${head}`, ...options, '-e', plan + code];
  const { status, stderr } = spawnSync(process.execPath, given, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  const files = fs.readdirSync(head).map((name) => path.join(head, name));
  const [lines] = files.filter((name) => name.endsWith('.jsonl'));
  return {
    blocks: fs
      .readFileSync(lines, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
    profiles: files
      .filter((name) => name.endsWith('.cpuprofile'))
      .map((name) => JSON.parse(fs.readFileSync(name, 'utf8'))),
  };
}

test('a process that is busy for longer than a block loses no block that follows', (t) => {
  // The schedule is there, blocks of 100 ms begin soon, and the process is busy through three of them.
  const { blocks, profiles } = profiled(
    t,
    `const begin = Date.now() + 1000;
    plan([0, 150, 300, 450].map((at) => ({ from: begin + at, to: begin + at + 100 })));
    setTimeout(() => { while (Date.now() < begin + 420); }, begin + 50 - Date.now());
    setTimeout(() => {}, begin + 2000 - Date.now());`,
  );
  // Of those that had begun when the process read the schedule it writes nothing.
  assert.deepEqual(
    blocks.map(({ block }) => block),
    [0, 1, 2, 3].slice(-blocks.length),
  );
  assert.equal(profiles.length, blocks.filter(({ profiled: is }) => is).length);
});

test('a loop that was replaced while it ran, before any block, is the time of its function', (t) => {
  // Node 20 replaces this loop by command alone, for which Node 26 takes longer than all blocks.
  const byCommand = Number.parseInt(process.versions.node, 10) < 24;
  const options = byCommand ? ['--allow-natives-syntax'] : [];
  const { profiles } = profiled(
    t,
    `function loops() {
      const some = [3, 1, 2, 5];
      for (let i = 0; i < 300000; i += 1) {
        ${byCommand ? 'if (i === 100) %OptimizeOsr();' : ''}
        some.sort((a, b) => (i % 2 ? 1 : -1) * (a - b));
      }
    }
    function caller() { loops(); }
    ${byCommand ? '%PrepareFunctionForOptimization(loops);' : ''}
    caller();
    const begin = Date.now() + 500;
    plan([{ from: begin, to: begin + 3000 }]);
    const again = setInterval(caller, 20);
    setTimeout(() => clearInterval(again), begin + 3500 - Date.now());`,
    ...options,
  );
  const [{ nodes, samples }] = profiles;
  const names = new Map(nodes.map(({ id, callFrame }) => [id, callFrame.functionName]));
  const of = (name) => samples.filter((id) => names.get(id) === name).length;
  assert.ok(of('loops') > of('caller'), `${of('loops')} of loops, ${of('caller')} of caller`);
});
