// Places and decoding times of the samples of an MP4 track (ISO/IEC 14496-12 §8.6, §8.7). Pure.

/** A sample. `seconds` is its decoding time from the track's start. */
export type Sample = { readonly offset: number; readonly sizeBytes: number; readonly seconds: number };

/** The bodies of a track's sample tables. */
export type SampleTables = {
  /** Decoding times (`stts`), sizes (`stsz`), samples of each chunk (`stsc`). */
  readonly stts: Buffer;
  readonly stsz: Buffer;
  readonly stsc: Buffer;
  /** Places of chunks: `stco`, or `co64` with 64 bits. */
  readonly places: Buffer;
  readonly has64Bits: boolean;
  /** Ticks per second. */
  readonly timescale: number;
};

/** Version and flags, then the number of entries. */
const HEADER_BYTES = 8;

/** The samples in decoding order. Ends with the shortest table; throws RangeError if a table is truncated. */
export function* samplesOf({ stts, stsz, stsc, places, has64Bits, timescale }: SampleTables): Generator<Sample> {
  const sizes = sampleSizes(stsz);
  const times = decodingTimes(stts);
  const chunks = places.readUInt32BE(4);
  const counts = samplesPerChunk(stsc, chunks);
  for (let chunk = 0; chunk < chunks; chunk++) {
    let offset = has64Bits
      ? Number(places.readBigUInt64BE(HEADER_BYTES + 8 * chunk))
      : places.readUInt32BE(HEADER_BYTES + 4 * chunk);
    const count = counts.next().value ?? 0;
    for (let at = 0; at < count; at++) {
      const sizeBytes = sizes.next().value;
      const ticks = times.next().value;
      if (sizeBytes === undefined || ticks === undefined) return;
      yield { offset, sizeBytes, seconds: ticks / timescale };
      offset += sizeBytes;
    }
  }
}

function* sampleSizes(stsz: Buffer): Generator<number, undefined> {
  const common = stsz.readUInt32BE(4);
  const count = stsz.readUInt32BE(8);
  for (let at = 0; at < count; at++) yield common || stsz.readUInt32BE(12 + 4 * at);
}

function* decodingTimes(stts: Buffer): Generator<number, undefined> {
  const entries = stts.readUInt32BE(4);
  let ticks = 0;
  for (let entry = 0; entry < entries; entry++) {
    const count = stts.readUInt32BE(HEADER_BYTES + 8 * entry);
    const step = stts.readUInt32BE(HEADER_BYTES + 8 * entry + 4);
    for (let at = 0; at < count; at++, ticks += step) yield ticks;
  }
}

/** The number of samples of each chunk. An entry is valid up to the first chunk of the next entry. */
function* samplesPerChunk(stsc: Buffer, chunks: number): Generator<number, undefined> {
  const entries = stsc.readUInt32BE(4);
  for (let entry = 0; entry < entries; entry++) {
    const at = HEADER_BYTES + 12 * entry;
    const first = stsc.readUInt32BE(at);
    const next = entry + 1 < entries ? stsc.readUInt32BE(at + 12) : chunks + 1;
    for (let chunk = first; chunk < next; chunk++) yield stsc.readUInt32BE(at + 4);
  }
}
