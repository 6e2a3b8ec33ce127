// Decides how many runs of ffmpeg share one video on a machine with many cores. Pure.

/** What one encode may use of a machine. */
export type MachineShare = { readonly cpus: number; readonly memoryBytes: number };

/** A video track to encode. `encoder` is ffmpeg's name. */
export type EncodedTrack = { readonly encoder: string; readonly width: number; readonly height: number };

type Encoder = {
  /** CPU seconds for a million pixels. */
  readonly cost: number;
  /** The cores that one encode of this height keeps busy. */
  readonly cores: (height: number) => number;
  /** Memory for each pixel of a frame, in bytes; the address space of ffmpeg/limits.ts is an upper limit. */
  readonly bytesPerPixel: number;
};

/**
 * Measured with bench/strong-machine.ts (docs/benchmarks.md), 2026-11-23: cost on two cores, `cores` so that a run of
 * 16 emulated cores takes as long as it did. x264 encodes several frames at a time, each some rows behind the one
 * before; libvpx has few tiles and rows.
 */
const ENCODERS: Readonly<Record<string, Encoder>> = {
  libx264: { cost: 0.03, cores: (height) => height / 20, bytesPerPixel: 700 },
  libx265: { cost: 0.06, cores: (height) => height / 20, bytesPerPixel: 700 },
  "libvpx-vp9": { cost: 0.11, cores: (height) => 4 + height / 100, bytesPerPixel: 500 },
};

/** Decoding of a million pixels, in CPU seconds, and the cores that it keeps busy: ffmpeg's most threads. */
const DECODE = { cost: 0.0055, cores: 16 } as const;
/** What chunks cost more: the frame index and the join, and decoding for their prerolls. */
const SPLIT_COST = 1.05;
const PREROLL_COST = 1.35;
/** The least gain for which a video is split. */
const MIN_GAIN = 1.2;
/** More runs than this gain so little that memory and disk decide. */
const MAX_RUNS = 16;
/** Runs that are this little slower than the fastest choice need less memory. */
const NEAR_BEST = 1.05;
/** Programs, source and caches use the rest. */
const MEMORY_SHARE = 0.6;
/** Of a run without its frames. */
const RUN_BYTES = 150 * 2 ** 20;

/** The decoded frames, and how many chunks there may be. */
export type SplitSource = Pick<EncodedTrack, "width" | "height"> & { readonly mostChunks: number };

/**
 * The number of runs at a time; 1: one run encodes the whole video. Encoders that are not known to leave cores idle are
 * not split.
 */
export function parallelRuns(
  source: SplitSource,
  tracks: readonly EncodedTrack[],
  { cpus, memoryBytes }: MachineShare,
): number {
  const encoders = tracks.map(({ encoder }) => ENCODERS[encoder]);
  const isKnown = (encoder: Encoder | undefined): encoder is Encoder => encoder !== undefined;
  if (tracks.length === 0 || !encoders.every(isKnown)) return 1;
  const parts = [
    { work: DECODE.cost * pixels(source), cores: DECODE.cores, splitCost: PREROLL_COST },
    ...tracks.map((track, at) => ({
      work: (encoders[at]?.cost ?? 0) * pixels(track),
      cores: Math.max(1, encoders[at]?.cores(track.height) ?? 1),
      splitCost: 1,
    })),
  ];
  const runBytes = tracks.reduce((sum, track, at) => {
    return sum + pixels(track) * 1e6 * (encoders[at]?.bytesPerPixel ?? 0);
  }, RUN_BYTES);
  const most = Math.min(MAX_RUNS, cpus, source.mostChunks, Math.floor((memoryBytes * MEMORY_SHARE) / runBytes));
  const times = Array.from({ length: Math.max(0, most) }, (_, at) => timeOf(parts, at + 1, cpus));
  const best = Math.min(...times);
  const runs = times.findIndex((time) => time <= best * NEAR_BEST) + 1;
  return (times[0] ?? 0) >= MIN_GAIN * (times[runs - 1] ?? Number.POSITIVE_INFINITY) ? runs : 1;
}

type Part = { readonly work: number; readonly cores: number; readonly splitCost: number };

/** The time for a frame: that of all cores together, and that of the part whose own cores take longest. */
function timeOf(parts: readonly Part[], runs: number, cpus: number): number {
  const costs = parts.map(({ splitCost, ...part }) => ({ ...part, work: part.work * (runs === 1 ? 1 : splitCost) }));
  const all = costs.reduce((sum, { work }) => sum + work, 0) / cpus;
  const longest = Math.max(...costs.map(({ work, cores }) => work / (runs * cores)));
  return (all + longest) * (runs === 1 ? 1 : SPLIT_COST);
}

/** In millions. */
const pixels = ({ width, height }: Pick<EncodedTrack, "width" | "height">): number => (width * height) / 1e6;
