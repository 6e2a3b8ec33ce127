// The result of a requested VMAF, in a sentence. Pure.
import type { QualityMetadata } from "../../../client/index.ts";
import { bitrate } from "../../core/format.ts";

type Target = NonNullable<QualityMetadata["target"]>[number];

/** `20.5`, or `20.5 to 27`. */
function range(values: readonly number[], digits: number): string {
  const [least, most] = [Math.min(...values), Math.max(...values)].map((value) => value.toFixed(digits));
  return least === most ? `${least}` : `${least} to ${most}`;
}

/** A sentence for each size. A video in chunks gets one sentence for all its chunks. */
export function targetTexts(targets: readonly Target[]): string[] {
  const sizes = Map.groupBy(targets, ({ vmaf, size }) => `VMAF ${vmaf} for ${size}`);
  return [...sizes].map(([wanted, ofSize]) => {
    const chunks = ofSize.length > 1 ? ` in ${ofSize.length} chunks` : "";
    const factors = `rate factor ${range(
      ofSize.map(({ rate_factor }) => rate_factor),
      1,
    )}`;
    const samples = ofSize.flatMap(({ samples }) => (samples ? [samples] : []));
    if (samples.length === 0) return `${wanted}: nothing could be measured; ${factors}${chunks}`;
    const vmaf = range(
      samples.map(({ mean }) => mean),
      1,
    );
    const rate = samples.reduce((sum, { kbps }) => sum + kbps, 0) / samples.length;
    return `${wanted}: ${vmaf} in samples with ${factors}${chunks}, ${bitrate(rate * 1000)}`;
  });
}
