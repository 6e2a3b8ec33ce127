// The frame rate of a stream, from ffprobe's ratios.
type Rates = { readonly avg_frame_rate?: string | undefined; readonly r_frame_rate?: string | undefined };

/** Frames per second; null if unknown. */
export function frameRateOf({ avg_frame_rate, r_frame_rate }: Rates): number | null {
  for (const ratio of [avg_frame_rate, r_frame_rate]) {
    const [above = 0, below = 1] = (ratio ?? "").split("/").map(Number);
    const rate = above / below;
    if (Number.isFinite(rate) && rate > 0 && rate <= 1000) return rate;
  }
  return null;
}
