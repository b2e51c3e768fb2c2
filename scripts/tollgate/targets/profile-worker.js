'use strict';

/**
 * Preloaded into every process of a service (`--require`): profiles it by Node's own inspector in
 * blocks of time, and counts in each block what it answered.
 *
 * The last --diagnostic-dir of Node's arguments is the process's folder: a cluster worker gets its
 * environment from PM2 only after this script, and children that it forks inherit the arguments.
 * Once ../schedule.json stands there, [{ from, to: ms since the epoch }] in order of time, the process
 * writes of each block PID-BLOCK.cpuprofile, and to PID.jsonl a line, { block, profiled, threadUs: CPU
 * of its main thread, null where the system does not tell, answered }. Of blocks that had begun when it
 * read the schedule it writes nothing; one that was over before a busy process could begin it has a
 * line that is not `profiled`.
 * Nothing here keeps the process alive.
 */

const fs = require('node:fs');
const path = require('node:path');
const { subscribe } = require('node:diagnostics_channel');
const inspector = require('node:inspector');

const LOOK_AGAIN_MS = 100;
const OPTION = '--diagnostic-dir=';

const folder = process.execArgv.findLast((each) => each.startsWith(OPTION)).slice(OPTION.length);
const session = new inspector.Session();
let answered = 0;

/** Calls back as long as the process lives for other reasons. */
function later(ms, callback) {
  setTimeout(callback, Math.max(ms, 1)).unref();
}

/** By Linux's scheduler, which a profile does not know: a thread that waits for a core looks busy. */
function threadUs() {
  try {
    const [ns] = fs.readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
    return Math.round(Number(ns) / 1000);
  } catch {
    return null;
  }
}

function begin() {
  return { answered, thread: threadUs() };
}

function write(line) {
  fs.appendFileSync(at(`${process.pid}.jsonl`), `${JSON.stringify(line)}\n`);
}

function end(number, begun, next) {
  const line = {
    block: number,
    profiled: true,
    threadUs: begun.thread === null ? null : threadUs() - begun.thread,
    answered: answered - begun.answered,
  };
  session.post('Profiler.stop', (error, result) => {
    if (error) throw new Error(`Profiler.stop: ${error.message}`);
    fs.writeFileSync(at(`${process.pid}-${number}.cpuprofile`), JSON.stringify(result.profile));
    write(line); // last: a block with a line is whole
    next();
  });
}

/** One block after the other: none begins while another is open, however late a timer comes. */
function measure(schedule, number) {
  if (number === schedule.length) return;
  const block = schedule[number];
  const next = () => measure(schedule, number + 1);
  const toEnd = (begun) => later(block.to - Date.now(), () => end(number, begun, next));
  later(block.from - Date.now(), () => {
    if (Date.now() >= block.to) {
      write({ block: number, profiled: false, threadUs: null, answered: 0 });
      next();
    } else session.post('Profiler.start', () => toEnd(begin()));
  });
}

function at(name) {
  return path.join(folder, name);
}

function awaitSchedule() {
  const schedule = path.join(folder, '..', 'schedule.json');
  if (!fs.existsSync(schedule)) return later(LOOK_AGAIN_MS, awaitSchedule);
  subscribe('http.server.response.finish', () => {
    answered += 1;
  });
  const blocks = JSON.parse(fs.readFileSync(schedule, 'utf8'));
  const left = blocks.findIndex((block) => block.from > Date.now());
  if (left >= 0) measure(blocks, left);
  return undefined;
}

session.connect();
session.post('Profiler.enable');
// A profile does not know a loop that V8 replaced while it ran (on-stack replacement) before the
// profile began: its time would be the caller's. So one is open from the start, which nobody reads.
inspector.console.profile('all along');
awaitSchedule();
