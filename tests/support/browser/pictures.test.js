'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { crc32, deflateSync } = require('node:zlib');
const { counts, reduce } = require('../../../scripts/dev/pictures/palette');
const { decode, encode } = require('../../../scripts/dev/pictures/png');

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const ends = [Buffer.alloc(4), Buffer.alloc(4)];
  ends[0].writeUInt32BE(data.length);
  ends[1].writeUInt32BE(crc32(body));
  return Buffer.concat([ends[0], body, ends[1]]);
}

function png({ width, height, depth = 8, colour = 2 }, rows) {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([depth, colour], 8);
  const parts = [chunk('IHDR', head), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.of())];
  return Buffer.concat([SIGNATURE, ...parts]);
}

/** The same two pixels, ff8000 and 102030, below a row of 102030 and ff8000, by each filter. */
const SECOND_ROWS = {
  none: [0, 0xff, 0x80, 0x00, 0x10, 0x20, 0x30],
  sub: [1, 0xff, 0x80, 0x00, 0x11, 0xa0, 0x30],
  up: [2, 0xef, 0x60, 0xd0, 0x11, 0xa0, 0x30],
  average: [3, 0xf7, 0x70, 0xe8, 0x11, 0xa0, 0x30],
  paeth: [4, 0xef, 0x60, 0xd0, 0x11, 0xa0, 0x30],
};

for (const [name, second] of Object.entries(SECOND_ROWS)) {
  test(`a row that was filtered by ${name} is read`, () => {
    const first = [0, 0x10, 0x20, 0x30, 0xff, 0x80, 0x00];
    const { pixels } = decode(png({ width: 2, height: 2 }, Buffer.from([...first, ...second])));
    assert.deepEqual([...pixels], [0x102030, 0xff8000, 0xff8000, 0x102030]);
  });
}

test('transparency is left out', () => {
  const rows = Buffer.from([0, 1, 2, 3, 128]);
  const { pixels } = decode(png({ width: 1, height: 1, colour: 6 }, rows));
  assert.deepEqual([...pixels], [0x010203]);
});

test('what is no PNG, or one of another kind, is refused', () => {
  assert.throws(() => decode(Buffer.from('GIF89a and more')), /not a PNG/);
  const deep = png({ width: 1, height: 1, depth: 16 }, Buffer.alloc(7));
  assert.throws(() => decode(deep), /16 bits/);
});

test('a picture of few colours keeps each', () => {
  const pixels = Uint32Array.from({ length: 600 }, (_, at) => (at % 200) * 0x010101);
  const { indices, palette } = reduce({ width: 30, height: 20, pixels });
  const kept = Array.from(indices, (at) => palette[at]);
  assert.deepEqual(kept, [...pixels]);
});

test('a picture of many colours keeps the frequent ones, and none goes far from its own', () => {
  const rare = Array.from({ length: 4096 }, (_, at) => ((at & 0xfc0) << 10) | ((at & 63) << 2));
  const pixels = Uint32Array.from([...rare, ...Array(500).fill(0xa81e2c)]);
  const { palette, indices } = reduce({ width: pixels.length, height: 1, pixels });
  assert.ok(palette.length <= 256);
  assert.equal(palette[indices.at(-1)], 0xa81e2c);
  rare.forEach((colour, at) => {
    const found = palette[indices[at]];
    const away = [16, 8, 0].map((bits) =>
      Math.abs(((colour >> bits) & 255) - ((found >> bits) & 255)),
    );
    assert.ok(Math.max(...away) <= 16, `${colour.toString(16)} became ${found.toString(16)}`);
  });
});

test('a file is written as the standard wants it', () => {
  const palette = [0xff8000, 0x102030];
  const file = encode({ width: 3, height: 1, palette, indices: Uint8Array.of(0, 1, 1) });
  assert.deepEqual(file.subarray(0, 8), SIGNATURE);
  assert.equal(file.readUInt32BE(16), 3);
  assert.deepEqual([...file.subarray(24, 26)], [8, 3]);
  const crc = file.readUInt32BE(8 + 8 + 13);
  assert.equal(crc, crc32(file.subarray(12, 12 + 4 + 13)));
});

test('colours are counted', () => {
  assert.deepEqual(Object.fromEntries(counts([1, 2, 1])), { 1: 2, 2: 1 });
});
