'use strict';

const { Upstream } = require('./upstream');

/** The servers there are, and whose turn it is. */
class Servers {
  #settings;
  #known = []; // ordered by name
  #lastName = '';

  /** @param {{ timeoutMs: number }} settings */
  constructor(settings) {
    this.#settings = settings;
  }

  /**
   * Takes up who is new and drops who is gone. A server with another pid is another server.
   *
   * @param {{ name: string, url: string, pid: number | null }[]} found all that there are now
   */
  update(found) {
    const isFound = (known) => found.some((each) => isSame(each, known));
    const isNew = (each) => !this.#known.some((known) => isSame(each, known));
    const kept = this.#known.filter(isFound);
    this.#known.filter((known) => !isFound(known)).forEach((known) => known.drop());
    const added = found.filter(isNew).map((each) => new Upstream(each, this.#settings));
    this.#known = [...kept, ...added].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /**
   * Round robin: of the servers that are up, the one after the last that had a turn.
   *
   * @param {Set<Upstream>} [except] who has been tried
   * @returns {Upstream | undefined}
   */
  next(except = new Set()) {
    const ready = this.#known.filter((each) => each.status === 'up' && !except.has(each));
    const chosen = ready.find(({ name }) => name > this.#lastName) ?? ready[0];
    if (chosen) this.#lastName = chosen.name;
    return chosen;
  }

  /** Once every server that is known now has been checked, with whatever outcome. */
  async checked() {
    await Promise.all(this.#known.map((each) => each.checked));
  }

  /** What GET /balancer/healthz tells. */
  view() {
    return this.#known.map((each) => each.view());
  }
}

function isSame(one, other) {
  return one.name === other.name && one.url === other.url && one.pid === other.pid;
}

module.exports = { Servers };
