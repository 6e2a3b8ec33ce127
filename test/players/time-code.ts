// The time code that stream-clips.ts draws into the top of its frames, in blocks that survive every encoder.

/** A white block, a black block, 15 bits of milliseconds (lowest bit first), and their parity. */
export const BLOCKS = 18;
export const TIME_BITS = 15;
/** The height of the row of blocks, as a share of the frame's height. */
export const ROW = 1 / 6;

/** Seconds by the brightness (0 to 255) of the blocks; null if there is no code or its parity is wrong. */
export function secondsOf(brightness: readonly number[]): number | null {
  const [white = 0, black = 0, ...others] = brightness;
  if (white - black < 80) return null;
  const bits = others.map((value) => value > (white + black) / 2);
  const time = bits.slice(0, TIME_BITS);
  const parity = time.filter(Boolean).length % 2 === 1;
  if (parity !== bits[TIME_BITS]) return null;
  return time.reduce((sum, bit, index) => sum + (bit ? 2 ** index : 0), 0) / 1000;
}
