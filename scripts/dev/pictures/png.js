'use strict';

/**
 * Reads the PNGs that browsers and Java write (8 bits a channel, RGB or RGBA, not interlaced) and
 * writes PNGs of a palette, which are a third as large: https://www.w3.org/TR/png-3.
 */

const { crc32, deflateSync, inflateSync } = require('node:zlib');

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Bytes a pixel by colour type. */
const CHANNELS = { 2: 3, 6: 4 };

function paeth(left, above, corner) {
  const guess = left + above - corner;
  const a = Math.abs(guess - left);
  const b = Math.abs(guess - above);
  const c = Math.abs(guess - corner);
  if (a <= b && a <= c) return left;
  return b <= c ? above : corner;
}

/** What was taken from each byte of a row, from those to the left, above and both. */
const PREDICTED = [
  () => 0,
  (left) => left,
  (_left, above) => above,
  (left, above) => (left + above) >> 1,
  paeth,
];

function chunks(file) {
  const found = [];
  for (let at = SIGNATURE.length; at + 12 <= file.length;) {
    const length = file.readUInt32BE(at);
    const type = file.toString('latin1', at + 4, at + 8);
    found.push({ type, data: file.subarray(at + 8, at + 8 + length) });
    at += 12 + length;
  }
  return found;
}

function header(file) {
  const [first] = file.subarray(0, 8).equals(SIGNATURE) ? chunks(file) : [];
  if (first?.type !== 'IHDR') throw new Error('this is not a PNG');
  const [depth, colour, , , interlaced] = first.data.subarray(8);
  const channels = CHANNELS[colour];
  if (depth !== 8 || !channels || interlaced) {
    throw new Error(`this PNG is of colour type ${colour}, ${depth} bits, which is not read here`);
  }
  return { width: first.data.readUInt32BE(0), height: first.data.readUInt32BE(4), channels };
}

function unfilter(raw, { width, height, channels }) {
  const length = width * channels;
  const rows = Buffer.alloc(length * height);
  for (let y = 0; y < height; y++) {
    const predict = PREDICTED[raw[y * (length + 1)]];
    for (let x = 0; x < length; x++) {
      const at = y * length + x;
      const left = x < channels ? 0 : rows[at - channels];
      const above = y === 0 ? 0 : rows[at - length];
      const corner = x < channels || y === 0 ? 0 : rows[at - length - channels];
      rows[at] = raw[y * (length + 1) + 1 + x] + predict(left, above, corner);
    }
  }
  return rows;
}

/**
 * { width, height, pixels } of a file's bytes, of no more rows than `most` from its top on; pixels:
 * 0xrrggbb each, without transparency.
 */
function decode(file, most = Infinity) {
  const whole = header(file);
  const head = { ...whole, height: Math.min(whole.height, most) };
  const data = chunks(file).filter(({ type }) => type === 'IDAT');
  const rows = unfilter(inflateSync(Buffer.concat(data.map((it) => it.data))), head);
  const { width, height, channels } = head;
  const pixels = new Uint32Array(width * height);
  for (let at = 0, from = 0; at < pixels.length; at++, from += channels) {
    pixels[at] = (rows[from] << 16) | (rows[from + 1] << 8) | rows[from + 2];
  }
  return { width, height, pixels };
}

function chunk(type, data) {
  const made = Buffer.alloc(data.length + 12);
  made.writeUInt32BE(data.length, 0);
  made.write(type, 4, 'latin1');
  data.copy(made, 8);
  made.writeUInt32BE(crc32(made.subarray(4, 8 + data.length)), 8 + data.length);
  return made;
}

/** The bytes of a PNG of up to 256 colours. indices: of each pixel, in `palette` of 0xrrggbb. */
function encode({ width, height, palette, indices }) {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  const colours = Buffer.alloc(palette.length * 3);
  palette.forEach((colour, at) => colours.writeUIntBE(colour, at * 3, 3));
  // Each row begins with its filter, of which indices want none.
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++) {
    rows.set(indices.subarray(y * width, (y + 1) * width), y * (width + 1) + 1);
  }
  const parts = [
    chunk('IHDR', head),
    chunk('PLTE', colours),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ];
  return Buffer.concat([SIGNATURE, ...parts]);
}

module.exports = { decode, encode };
