// The progress of several runs at the same time, as that of one. Pure.
import type { EncodingRate } from "#shared/protocol/frames.ts";

export interface SplitProgress {
  /** The completed fraction of a part, and how fast it is encoded now. */
  update(part: number, fraction: number, rate?: EncodingRate): void;
}

/** `frames` are those of each part. Reports the fraction of all frames, and the rates of all running parts together. */
export function createSplitProgress(
  frames: readonly number[],
  report: (fraction: number, rate: EncodingRate) => void,
): SplitProgress {
  const total = frames.reduce((sum, each) => sum + each, 0);
  const fractions = frames.map(() => 0);
  const rates: EncodingRate[] = frames.map(() => ({}));
  return {
    update(part, fraction, rate = {}) {
      fractions[part] = Math.max(fractions[part] ?? 0, fraction);
      rates[part] = fraction < 1 ? rate : {};
      const done = frames.reduce((sum, each, at) => sum + each * (fractions[at] ?? 0), 0);
      const sumOf = (name: "fps" | "speed"): number => rates.reduce((sum, each) => sum + (each[name] ?? 0), 0);
      const [fps, speed] = [sumOf("fps"), sumOf("speed")];
      report(total === 0 ? 0 : done / total, { ...(fps > 0 ? { fps } : {}), ...(speed > 0 ? { speed } : {}) });
    },
  };
}
