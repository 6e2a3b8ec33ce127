// Damage to files: equal for equal seeds, on any machine.
import { randomOf } from "#shared/testing/random.ts";

type Random = () => number;
type Damage = (bytes: Buffer, random: Random) => Buffer;

const upTo = (random: Random, limit: number): number => Math.floor(random() * limit);

/** Half of all damage hits headers: the start, where most formats have them, or the end, where mp4 may have them. */
function place(bytes: Buffer, random: Random): number {
  const where = random();
  if (where < 0.4) return upTo(random, Math.min(bytes.length, 1024));
  if (where < 0.55) return bytes.length - 1 - upTo(random, Math.min(bytes.length, 2048));
  return upTo(random, bytes.length);
}

/** Lengths, counts and rates that programs often do not expect. */
const ODD = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff];

const DAMAGES: readonly Damage[] = [
  function flipBits(bytes, random) {
    for (let times = 1 + upTo(random, 8); times > 0; times--) {
      const at = place(bytes, random);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << upTo(random, 8));
    }
    return bytes;
  },
  function writeNoise(bytes, random) {
    const at = place(bytes, random);
    for (let offset = 0; offset < 1 + upTo(random, 64); offset++) bytes[at + offset] = upTo(random, 256);
    return bytes;
  },
  function writeOddNumber(bytes, random) {
    const at = Math.min(place(bytes, random), Math.max(0, bytes.length - 4));
    const value = ODD[upTo(random, ODD.length)] ?? 0;
    if (bytes.length >= 4) random() < 0.5 ? bytes.writeUInt32BE(value, at) : bytes.writeUInt32LE(value, at);
    return bytes;
  },
  function truncated(bytes, random) {
    return bytes.subarray(0, upTo(random, bytes.length));
  },
  function takeOut(bytes, random) {
    const at = place(bytes, random);
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + upTo(random, 512))]);
  },
  function repeat(bytes, random) {
    const at = place(bytes, random);
    const part = bytes.subarray(at, at + 1 + upTo(random, 2048));
    return Buffer.concat([bytes.subarray(0, at), part, part, bytes.subarray(at)]);
  },
  function swap(bytes, random) {
    const [from, to] = [place(bytes, random), place(bytes, random)];
    const part = Buffer.from(bytes.subarray(from, from + 1 + upTo(random, 256)));
    part.copy(bytes, to);
    return bytes;
  },
];

/** A copy with one to three kinds of damage. */
export function mutated(original: Buffer, seed: number): Buffer {
  const random = randomOf(seed);
  let bytes: Buffer = Buffer.from(original);
  for (let times = 1 + upTo(random, 3); times > 0; times--) {
    const damage = DAMAGES[upTo(random, DAMAGES.length)];
    if (damage) bytes = Buffer.from(damage(bytes, random));
  }
  return bytes;
}
