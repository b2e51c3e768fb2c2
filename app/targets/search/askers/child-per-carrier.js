'use strict';

const { CarrierError, inTime } = require('./in-time');
const { opened, ProcessEnded, ready, start } = require('./processes');

/** So that a carrier that is slow for long fills neither memory nor its process's event loop. */
const MOST_WAITING = 1000;

/** The asker that keeps one process for each carrier and routes searches to it: see targets/search. */
function childPerCarrier({ randomDelay }) {
  const carriers = new Map();
  return (file, query, timeLimitMs) => {
    if (!carriers.has(file)) carriers.set(file, new CarrierProcess());
    return carriers.get(file).ask({ file, query, randomDelay }, timeLimitMs);
  };
}

/**
 * A carrier's process: started when it is first needed, and again when it is needed after it has
 * died. It answers as many questions at a time as there are, and ends with this process.
 */
class CarrierProcess {
  #running; // promise of the child
  #unanswered = new Map(); // what settles a question, by id
  #lastId = 0;
  #waiting = 0;

  /** Asks a second time, and not a third, when the process dies over it. */
  async ask(question, timeLimitMs) {
    if (this.#waiting >= MOST_WAITING) {
      throw new CarrierError(`${MOST_WAITING} searches wait for it already`);
    }
    this.#waiting += 1;
    try {
      return await this.#askOnce(question, timeLimitMs).catch((error) => {
        if (!(error instanceof ProcessEnded)) throw error;
        return this.#askOnce(question, timeLimitMs);
      });
    } finally {
      this.#waiting -= 1;
    }
  }

  async #askOnce(question, timeLimitMs) {
    this.#running ??= this.#start();
    const child = await this.#running;
    const id = (this.#lastId += 1);
    const answer = await inTime(timeLimitMs, (signal) => {
      signal.addEventListener('abort', () => this.#takeBack(child, id, timeLimitMs));
      return this.#send(child, { id, ...question });
    });
    return opened(answer);
  }

  async #start() {
    const child = start();
    child.on('message', (message) => this.#settle(message.id, ({ resolve }) => resolve(message)));
    child.once('exit', (...how) => this.#ended(new ProcessEnded(...how)));
    child.once('error', (error) => this.#ended(error));
    // It waits for questions for ever, which must not keep this process alive.
    child.unref();
    child.channel?.unref();
    try {
      await ready(child);
      return child;
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
    }
  }

  #send(child, message) {
    return new Promise((resolve, reject) => {
      this.#unanswered.set(message.id, { resolve, reject });
      child.send(message, () => {}); // when that fails the child is about to end, which is heard
    });
  }

  /** A child that does not even answer this in as long again is stuck, and its other questions with it. */
  #takeBack(child, id, timeLimitMs) {
    child.send({ cancel: id }, () => {});
    const timer = setTimeout(() => child.kill('SIGKILL'), timeLimitMs).unref();
    const done = () => clearTimeout(timer);
    this.#unanswered.set(id, { resolve: done, reject: done });
  }

  #settle(id, how) {
    const waiting = this.#unanswered.get(id);
    this.#unanswered.delete(id);
    if (waiting) how(waiting);
  }

  #ended(error) {
    this.#running = undefined;
    for (const id of [...this.#unanswered.keys()]) this.#settle(id, ({ reject }) => reject(error));
  }
}

module.exports = { childPerCarrier };
