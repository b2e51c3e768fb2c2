'use strict';

/** In seconds: a server that has crashed is back about then. */
const RETRY_AFTER_S = 1;

/** No server's answer could be had, and why. */
class GatewayError extends Error {
  /**
   * @param {502 | 503 | 504} status
   * @param {string} reason
   * @param {{ server: string, failure: string }[]} [attempts] who was tried
   */
  constructor(status, reason, attempts = []) {
    super(reason);
    Object.assign(this, { status, attempts });
  }
}

/** Express error handler for a GatewayError: `{"error": {"reason", "attempts"}}`. */
function answerGatewayError(error, req, res, next) {
  if (!(error instanceof GatewayError) || res.headersSent) return next(error);
  const { status, message: reason, attempts } = error;
  if (status === 503) res.set('Retry-After', String(RETRY_AFTER_S));
  return res.status(status).json({ error: { reason, attempts } });
}

module.exports = { answerGatewayError, GatewayError };
