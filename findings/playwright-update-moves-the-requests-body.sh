#!/bin/sh
# Playwright 1.65.1 with Chromium 147, `routeFromHAR(file, {update: true})`: the bodies of requests go to
# files of their own as well, and `postData.text`, which HAR has for them, is the empty text.
#
# Guessed: answers alone, "resources", are attached, and the request keeps its body. Seen of a POST of
# {"user":"ann"}, of which the server got 14 bytes:
#
#   bodySize -1, postData {"mimeType":"application/json","text":"","params":[],"_file":"....json"}
#
# So a program that knows HAR reads a POST with an empty body.
set -eu
# shellcheck source=findings/support/playwright
. "$(dirname -- "$0")/support/playwright"

record <<'JS'
const context = await newContext();
await context.routeFromHAR('shop.har', { update: true });
const page = await context.newPage();
await page.goto(`${shop}/`);
await page.evaluate(async () => {
  const headers = { 'content-type': 'application/json' };
  await (await fetch('/login', { method: 'POST', headers, body: '{"user":"ann"}' })).json();
});
await context.close();
const { bodySize, postData } = entries('shop.har')[1].request;
console.log(bytes['/login'], 'bytes sent, bodySize', bodySize, JSON.stringify(postData));
assert.equal(bytes['/login'], 14);
assert.deepEqual([bodySize, postData.text, postData.params], [-1, '', []]);
assert.equal(fs.readFileSync(postData._file, 'utf8'), '{"user":"ann"}');
JS
