// Reads bit fields from bytes, as in the headers of H.264 and AAC.

export interface Bits {
  /** The next bits as an unsigned number; at most 32 bits. Throws RangeError past the end. */
  take(count: number): number;
  /** An unsigned Exp-Golomb code: `ue(v)` of ITU-T H.264 §9.1. */
  takeGolomb(): number;
  /** A signed Exp-Golomb code: `se(v)` of §9.1.1. */
  takeSignedGolomb(): number;
}

export function readBits(bytes: Buffer): Bits {
  let at = 0;
  const takeBit = (): number => {
    const bit = (bytes.readUInt8(at >> 3) >> (7 - (at & 7))) & 1;
    at += 1;
    return bit;
  };
  const take = (count: number): number => {
    let value = 0;
    for (let left = count; left > 0; left -= 1) value = value * 2 + takeBit();
    return value;
  };
  const takeGolomb = (): number => {
    let zeros = 0;
    while (takeBit() === 0) zeros += 1;
    if (zeros > 31) throw new Error("Exp-Golomb code has more than 32 bits");
    return 2 ** zeros - 1 + take(zeros);
  };
  const takeSignedGolomb = (): number => {
    const code = takeGolomb();
    return code % 2 === 1 ? (code + 1) / 2 : -code / 2;
  };
  return { take, takeGolomb, takeSignedGolomb };
}
