'use strict';

const { setTimeout: wait } = require('node:timers/promises');
const { Pool } = require('undici');
const { saysClose } = require('./headers');

/** Between two checks of a server that is out of the deal. */
const CHECK_EVERY_MS = 250;
/** How long GET /healthz may take before a server counts as not answering. */
const CHECK_LIMIT_MS = 2000;

const SILENT = `GET /healthz: no answer within ${CHECK_LIMIT_MS} ms`;
const LEAVING = 'it says that it ends its connections';

/**
 * One server behind the balancer: its connections, and whether it may be dealt requests.
 *
 * `status` is `unproven` until a first GET /healthz has been answered, then `up`, and `down` from
 * a failure on until GET /healthz is answered again. `dropped` is for good: what is in flight is
 * let finish.
 */
class Upstream {
  #pool;
  #proving = false;
  #looking = false;
  #doubted = false;

  /**
   * @param {{ name: string, url: string, pid: number | null }} where
   * @param {{ timeoutMs: number }} settings
   */
  constructor({ name, url, pid }, { timeoutMs }) {
    Object.assign(this, { name, url, pid, status: 'unproven', reason: 'not checked yet' });
    Object.assign(this, { dealt: 0, failed: 0, inFlight: 0 });
    // As many connections as there are requests: a queue in here would be an uneven deal. The time
    // until an answer begins is limited by who forwards, over all of its attempts.
    const pool = new Pool(url, { headersTimeout: 0, bodyTimeout: timeoutMs });
    this.#pool = pool.compose(withRawHeaders);
    // Perhaps an idle one of a server that has just died. What is composed has no events of it.
    pool.on('disconnect', () => this.#look());
    /** Resolves when the first check is over, however it went. */
    this.checked = new Promise((resolve) => {
      this.#prove(resolve);
    });
  }

  /** A request of a client's; `options` and answer are undici's, headers as a flat list of strings,
   * a character a byte. */
  async request(options) {
    this.dealt += 1;
    this.inFlight += 1;
    try {
      const { statusCode, body, opaque } = await this.#pool.request({ ...options, opaque: {} });
      if (saysClose(opaque.headers)) this.leave(LEAVING);
      body.once('close', () => (this.inFlight -= 1));
      return { statusCode, headers: opaque.headers, body };
    } catch (error) {
      this.inFlight -= 1;
      throw error;
    }
  }

  /** Takes it out of the deal because a request failed, until it is proven again. */
  fail(reason) {
    this.failed += 1;
    this.leave(reason);
  }

  /** Takes it out of the deal until it is proven again. */
  leave(reason) {
    if (this.status !== 'up') return;
    Object.assign(this, { status: 'down', reason });
    this.#prove();
  }

  /** It was slow, which is no failure by itself: takes it out only if it answers nothing at all. */
  doubt() {
    this.failed += 1;
    this.#doubted = true;
    this.#look();
  }

  /** Never deals to it again, and ends its connections once their answers are complete. */
  drop() {
    this.status = 'dropped';
    this.#pool.close().catch(() => {});
  }

  /** What GET /balancer/healthz tells of it. */
  view() {
    const { name, url, pid, status, reason, dealt, failed, inFlight } = this;
    return { name, url, pid, status, reason, dealt, failed, inFlight };
  }

  async #prove(afterFirst = () => {}) {
    if (this.#proving) return;
    this.#proving = true;
    while (this.status !== 'up' && this.status !== 'dropped') {
      const failure = await this.#check();
      if (this.status === 'dropped') break;
      Object.assign(this, failure ?? { status: 'up', reason: null });
      afterFirst();
      if (failure) await wait(CHECK_EVERY_MS, undefined, { ref: false });
    }
    this.#proving = false;
    afterFirst();
  }

  /**
   * Asks a server in the deal whether it is well. One that says nothing in time stays unless it is
   * doubted already: it may be busy.
   */
  async #look() {
    if (this.#looking || this.status !== 'up') return;
    this.#looking = true;
    const failure = await this.#check();
    const excused = failure?.reason === SILENT && !this.#doubted;
    this.#looking = this.#doubted = false;
    if (failure && !excused) this.leave(failure.reason);
  }

  /** @returns {Promise<{ reason: string } | undefined>} why GET /healthz failed */
  async #check() {
    try {
      const { statusCode, opaque, body } = await this.#pool.request({
        method: 'GET',
        path: '/healthz',
        opaque: {},
        signal: AbortSignal.timeout(CHECK_LIMIT_MS),
      });
      await body.dump();
      if (statusCode !== 200) return { reason: `GET /healthz: ${statusCode}` };
      return saysClose(opaque.headers) ? { reason: LEAVING } : undefined;
    } catch (error) {
      const silent = error.name === 'TimeoutError';
      return { reason: silent ? SILENT : `GET /healthz: ${describe(error)}` };
    }
  }
}

/** Notes an answer's headers as they came, in the request's `opaque`: undici takes them for UTF-8. */
function withRawHeaders(dispatch) {
  return (options, handler) => {
    const { onHeaders } = handler;
    handler.onHeaders = (status, raw, ...others) => {
      options.opaque.headers = raw.map((each) => each.toString('latin1'));
      return onHeaders.call(handler, status, raw, ...others);
    };
    return dispatch(options, handler);
  };
}

/** A connection's failure in a few words: a code where there is one. */
function describe(error) {
  return error.code === 'UND_ERR_SOCKET' ? error.message : (error.code ?? error.message);
}

module.exports = { describe, Upstream };
