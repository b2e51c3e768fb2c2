'use strict';

/**
 * Shows what the run sends, a snapshot of all of it at a time. A cell is written anew only where it
 * has changed, so that focus, selection and scrolling stay where they are. All of it is text.
 */
{
  /** Milliseconds without news after which the page says so. */
  const SILENT_MS = 15_000;
  /** Milliseconds until the run is looked for again. */
  const AGAIN_MS = 5000;

  const connection = document.getElementById('connection');
  const badge = document.querySelector('header .badge');
  const sentence = document.querySelector('h1');

  function make(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value) node.setAttribute(name, value);
    }
    node.append(...children);
    return node;
  }

  function say(node, text) {
    if (node.textContent !== text) node.textContent = text;
  }

  /** As many children as there are items: `made` makes one, `fill` writes an item into it. */
  function fit(parent, items, made, fill) {
    while (parent.children.length > items.length) parent.lastElementChild.remove();
    items.forEach((item, at) => {
      if (at >= parent.children.length) parent.append(made(item, at));
      fill(parent.children[at], item, at);
    });
  }

  function fillCell(node, cell) {
    const shown = JSON.stringify(cell);
    if (node.shown === shown) return;
    node.shown = shown;
    const parts = [];
    if (cell.text) parts.push(cell.text);
    if (cell.badge) parts.push(make('span', { class: `badge ${cell.tone}` }, cell.badge));
    if (cell.note) parts.push(make('span', { class: 'basis' }, cell.note));
    if (cell.small) parts.push(make('span', { class: 'small' }, cell.small));
    node.replaceChildren(...parts.flatMap((part, at) => (at ? [' ', part] : [part])));
  }

  function makeRow({ columns }) {
    const cells = columns.map(([heading, kind], at) =>
      at === 0
        ? make('th', { scope: 'row', class: kind })
        : make('td', { class: kind, 'data-label': heading }),
    );
    return make('tr', {}, ...cells);
  }

  function makeTable(table) {
    const headings = table.columns.map(([heading, kind]) =>
      make('th', { scope: 'col', class: kind }, heading),
    );
    const made = make(
      'table',
      { class: table.kind },
      make('caption'),
      make('thead', {}, make('tr', {}, ...headings)),
      make('tbody'),
    );
    return make('div', { class: 'scrolls', tabindex: '0', role: 'region' }, made);
  }

  function fillTable(frame, table) {
    const [caption, , body] = frame.firstElementChild.children;
    say(caption, table.caption);
    const label = table.caption;
    if (frame.getAttribute('aria-label') !== label) frame.setAttribute('aria-label', label);
    fit(
      body,
      table.rows,
      () => makeRow(table),
      (row, cells) => cells.forEach((cell, at) => fillCell(row.children[at], cell)),
    );
  }

  function fillSection(place, { lines, tables }) {
    if (!place.made) {
      place.made = [make('div'), make('div')];
      place.replaceChildren(...place.made);
    }
    const [above, below] = place.made;
    fit(above, lines, () => make('p'), say);
    tables.forEach((table, at) => {
      // Another table may come in its place: the criteria before and behind the first look.
      const shape = JSON.stringify(table.columns);
      const frame = below.children[at];
      if (frame?.shape !== shape) {
        const made = makeTable(table);
        made.shape = shape;
        if (frame) frame.replaceWith(made);
        else below.append(made);
      }
      fillTable(below.children[at], table);
    });
    while (below.children.length > tables.length) below.lastElementChild.remove();
  }

  const time = () => new Date().toLocaleTimeString('en-GB');
  let [heard, heardAt, isOver] = [null, '', false];

  function warn(text) {
    document.body.classList.toggle('stale', Boolean(text));
    say(connection, text);
  }

  function show(snapshot) {
    [heard, heardAt] = [performance.now(), time()];
    warn('');
    say(sentence, snapshot.sentence);
    say(badge, snapshot.answer);
    badge.className = `badge ${snapshot.tone}`;
    document.title = `${snapshot.answer}: ${snapshot.sentence}`;
    for (const section of snapshot.sections) {
      const place = document.querySelector(`[data-live="${section.id}"]`);
      if (place) fillSection(place, section);
    }
    if (!snapshot.isOver) return;
    isOver = true;
    source.close();
    // The same address has the run's own page from now on, until its process has ended.
    if (snapshot.hasPage) location.reload();
  }

  let source;

  function listen() {
    source = new EventSource('events');
    source.addEventListener('message', ({ data }) => show(JSON.parse(data)));
    source.addEventListener('error', () => {
      if (isOver) return;
      const since = heardAt ? ` since ${heardAt}. What stands here is of then` : '';
      warn(`No connection to the run${since}. It has ended, or it can't be reached.`);
      // A browser tries again by itself, unless something else has answered.
      if (source.readyState === EventSource.CLOSED) setTimeout(listen, AGAIN_MS);
    });
  }

  listen();
  setInterval(() => {
    if (isOver || heard === null || performance.now() - heard < SILENT_MS) return;
    warn(`The run has sent nothing since ${heardAt}: what stands here is of then.`);
  }, 1000);
}
