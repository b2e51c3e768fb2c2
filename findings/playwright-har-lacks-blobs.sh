#!/bin/sh
# Playwright 1.65.1 with Chromium 147, `recordHar`: a body that is a Blob, or a form with a file, is not
# recorded, and its `bodySize` is 0, beside the Content-Length with which it was sent.
#
# Guessed: `postData` has the body, or at least `bodySize` its length. Seen:
#
#   /text     14 bytes sent, bodySize 14, postData {"user":"ann"}
#   /blob     14 bytes sent, bodySize 0, no postData, content-length 14
#   /upload  199 bytes sent, bodySize 0, no postData, content-length 199
#
# So a request with a body looks like one without.
set -eu
# shellcheck source=findings/support/playwright
. "$(dirname -- "$0")/support/playwright"

record <<'JS'
const context = await newContext({ recordHar: { path: 'shop.har' } });
const page = await context.newPage();
await page.goto(`${shop}/`);
await page.evaluate(async () => {
  const headers = { 'content-type': 'application/json' };
  await fetch('/text', { method: 'POST', headers, body: '{"user":"ann"}' });
  await fetch('/blob', { method: 'POST', headers, body: new Blob(['{"user":"ann"}']) });
  const form = new FormData();
  form.append('photo', new File(['1'], 'photo.txt'));
  await fetch('/upload', { method: 'POST', body: form });
});
await context.close();
const seen = {};
for (const { request } of entries('shop.har').slice(1)) {
  const path = new URL(request.url).pathname;
  const length = request.headers.find(({ name }) => /^content-length$/i.test(name)).value;
  const text = request.postData?.text;
  console.log(path, bytes[path], 'bytes sent, bodySize', request.bodySize, text, length);
  assert.equal(Number(length), bytes[path]);
  seen[path] = [request.bodySize, text];
}
const none = [0, undefined];
assert.deepEqual(seen, { '/text': [14, '{"user":"ann"}'], '/blob': none, '/upload': none });
JS
