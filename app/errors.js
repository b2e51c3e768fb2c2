'use strict';

// Enough to recognise a value by, and no way to have kilobytes echoed.
const LONGEST_ECHO = 100;

/** A request that cannot be served as it is, and why; its fields are the answer's body. */
class RequestError extends Error {
  /**
   * @param {string} parameter what was wrong: a parameter's name, `path` or `method`
   * @param {unknown} value what was given; undefined when it is missing
   * @param {string} allowed what would have been right
   * @param {number} [status] HTTP status
   */
  constructor(parameter, value, allowed, status = 400) {
    super(`${parameter}: allowed is ${allowed}`);
    Object.assign(this, { parameter, value: shortened(value ?? null), allowed, status });
  }
}

function shortened(value) {
  if (Array.isArray(value)) return value.slice(0, 10).map(shortened);
  if (typeof value !== 'string' || value.length <= LONGEST_ECHO) return value;
  return `${value.slice(0, LONGEST_ECHO)}...`;
}

/**
 * Express handler for requests that no route took.
 *
 * @param {string[]} paths the routes there are, to be named in the answer
 */
function unknownRoute(paths) {
  const allowed = paths.join(', ');
  return (req) => {
    decodeURIComponent(req.path); // throws an URIError, so that %zz is 400 on every route
    throw new RequestError('path', req.path, allowed, 404);
  };
}

/**
 * Express error handler: `{"error": {"parameter", "value", "allowed"}}` for what the caller can
 * mend. Anything else is ours: 500, and the error is logged to stderr.
 */
function answerError(error, req, res, next) {
  if (res.headersSent) return next(error);
  const known = asRequestError(error, req);
  if (known) {
    const { status, parameter, value, allowed } = known;
    return res.status(status).json({ error: { parameter, value, allowed } });
  }
  console.error(`${req.method} ${req.path}:`, error);
  return res.status(500).json({ error: { reason: "unexpected; the server's log tells more" } });
}

function asRequestError(error, req) {
  if (error instanceof RequestError) return error;
  if (error instanceof URIError) return new RequestError('path', req.path, 'percent-encoded UTF-8');
  return undefined;
}

module.exports = { answerError, RequestError, unknownRoute };
