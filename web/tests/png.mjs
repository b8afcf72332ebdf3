// PNG files, as far as pictures of pages need them: read what a browser writes, write a small palette.
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const CHANNELS = { 2: 3, 3: 1, 6: 4 };

function* chunksOf(file) {
  for (let at = SIGNATURE.length; at < file.length; ) {
    const length = file.readUInt32BE(at);
    yield { type: file.toString('latin1', at + 4, at + 8), data: file.subarray(at + 8, at + 8 + length) };
    at += length + 12;
  }
}

/** Width, height and three bytes for each pixel. */
export function decode(file) {
  let width, height, kind, palette;
  const parts = [];
  for (const { type, data } of chunksOf(file)) {
    if (type === 'IHDR') [width, height, kind] = [data.readUInt32BE(0), data.readUInt32BE(4), data[9]];
    if (type === 'PLTE') palette = data;
    if (type === 'IDAT') parts.push(data);
  }
  const channels = CHANNELS[kind];
  const rows = unfilter(inflateSync(Buffer.concat(parts)), width * channels, height, channels);
  const pixels = Buffer.alloc(width * height * 3);
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    if (palette) palette.copy(pixels, pixel * 3, rows[pixel] * 3, rows[pixel] * 3 + 3);
    else rows.copy(pixels, pixel * 3, pixel * channels, pixel * channels + 3);
  }
  return { width, height, pixels };
}

/** Each row says by its first byte how it was predicted. */
function unfilter(packed, stride, height, step) {
  const rows = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y += 1) {
    const filter = packed[y * (stride + 1)];
    for (let x = 0; x < stride; x += 1) {
      const at = y * stride + x;
      const left = x >= step ? rows[at - step] : 0;
      const above = y > 0 ? rows[at - stride] : 0;
      const corner = x >= step && y > 0 ? rows[at - stride - step] : 0;
      rows[at] = packed[y * (stride + 1) + 1 + x] + [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter];
    }
  }
  return rows;
}

function paeth(left, above, corner) {
  const guess = left + above - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - above), Math.abs(guess - corner)];
  return a <= b && a <= c ? left : b <= c ? above : corner;
}

/** A palette of up to 256 colours: those used most, and of the others one for all that are nearly the same. */
export function encode({ width, height, pixels }) {
  const counts = new Map();
  const colourAt = (pixel) => pixels.readUIntBE(pixel * 3, 3);
  for (let pixel = 0; pixel < width * height; pixel += 1) counts.set(colourAt(pixel), (counts.get(colourAt(pixel)) ?? 0) + 1);
  const parts = (colour) => [colour >> 16, (colour >> 8) & 255, colour & 255];
  const byUse = [...counts].toSorted((a, b) => b[1] - a[1]).map(([colour]) => colour);
  const alike = new Map(byUse.slice(128).toReversed().map((colour) => [parts(colour).map((part) => part >> 4).join(), colour]));
  const colours = [...byUse.slice(0, 128), ...[...alike.values()].toSorted((a, b) => counts.get(b) - counts.get(a)).slice(0, 128)];
  const distance = (a, b) => parts(a).reduce((sum, part, index) => sum + (part - parts(b)[index]) ** 2, 0);
  const places = new Map([...counts.keys()].map((colour) => [colour, colours.reduce((best, one, index) => (distance(one, colour) < distance(colours[best], colour) ? index : best), 0)]));
  const rows = Buffer.alloc((width + 1) * height);
  for (let pixel = 0; pixel < width * height; pixel += 1) rows[Math.floor(pixel / width) * (width + 1) + 1 + (pixel % width)] = places.get(colourAt(pixel));
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('PLTE', Buffer.from(colours.flatMap(parts))), chunk('IDAT', deflateSync(rows, { level: 9 })), chunk('IEND', Buffer.alloc(0))]);
}

function chunk(type, data) {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([size, named, sum]);
}
