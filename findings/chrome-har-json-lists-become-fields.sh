#!/bin/sh
# chrome-har 1.3.1: the body of a JSON request is not kept as text, but as `params`, one for each field
# and one for each item of a list, so that different bodies have one record.
#
# Guessed: `postData.text` is the body as it was sent. Seen, with the messages that Chrome writes of it:
#
#   {"tags":["a"]}           params tags=a
#   {"tags":"a"}             params tags=a
#   {"tags":[],"name":"b"}   params name=b
#   [7]                      params 0=7
#   {"0":7}                  params 0=7
#
# So the list of one item is its item, and the empty list is nothing.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" chrome-har@1.3.1

cat >record.mjs <<'JS'
import assert from 'node:assert';
import { harFromMessages } from 'chrome-har';

const headers = { 'Content-Type': 'application/json' };
const times = { requestTime: 1, sendStart: 0, sendEnd: 1, receiveHeadersEnd: 2 };
for (const phase of ['proxy', 'dns', 'connect', 'ssl']) {
  Object.assign(times, { [`${phase}Start`]: -1, [`${phase}End`]: -1 });
}
const post = (requestId, postData) => {
  const about = { requestId, frameId: 'F', loaderId: 'L', type: 'Fetch' };
  const url = `http://shop.example/${requestId}`;
  const response = { url, status: 200, statusText: 'OK', headers, mimeType: 'application/json' };
  Object.assign(response, { protocol: 'http/1.1', connectionId: 1, timing: times });
  const request = { url, method: 'POST', headers, postData, hasPostData: true };
  const sent = { ...about, request, timestamp: 1, wallTime: 1700000000, initiator: {} };
  return [
    { method: 'Network.requestWillBeSent', params: sent },
    { method: 'Network.responseReceived', params: { ...about, timestamp: 2, response } },
    { method: 'Network.loadingFinished', params: { requestId, timestamp: 2 } },
  ];
};
const bodies = ['{"tags":["a"]}', '{"tags":"a"}', '{"tags":[],"name":"b"}', '[7]', '{"0":7}'];
const start = { method: 'Page.frameStartedLoading', params: { frameId: 'F' } };
const har = harFromMessages([start, ...bodies.flatMap((body, place) => post(`${place}`, body))]);
const seen = har.log.entries.map(({ request: { postData } }) => {
  assert.equal(postData.text, undefined);
  return postData.params.map(({ name, value }) => `${name}=${value}`).join();
});
bodies.forEach((body, place) => console.log(body, 'params', seen[place]));
assert.deepEqual(seen, ['tags=a', 'tags=a', 'name=b', '0=7', '0=7']);
JS
node record.mjs
