'use strict';

/** A carrier's failure whose message may be shown to the caller. */
class CarrierError extends Error {}

/**
 * Does something that may take so long and no longer.
 *
 * @param {number} timeLimitMs
 * @param {(signal: AbortSignal) => Promise<T>} work told by `signal` to clean up when it is late
 * @returns {Promise<T>}
 * @throws {CarrierError} when the time is over
 * @template T
 */
async function inTime(timeLimitMs, work) {
  const controller = new AbortController();
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => {
      reject(new CarrierError(`no answer within ${timeLimitMs} ms`));
      controller.abort();
    }, timeLimitMs);
  });
  try {
    return await Promise.race([work(controller.signal), late]);
  } finally {
    clearTimeout(timer);
  }
}

module.exports = { CarrierError, inTime };
