// Frame rates in the notation of playlists and manifests.

/** A common frame rate: a whole number, or 1000/1001 of a whole number as in NTSC. */
type Rate = { readonly fps: number; readonly fraction: string };

/** Half the relative distance between 30 and 30000/1001. A mean that is this close to a common rate is that rate. */
const NEAR = 0.0005;

/** The common rate closest to this mean frame rate, or the mean itself rounded to a thousandth. */
export function rateOf(fps: number): Rate {
  const whole = Math.max(1, Math.round(fps));
  const common: Rate[] = [
    { fps: whole, fraction: String(whole) },
    { fps: (whole * 1000) / 1001, fraction: `${whole * 1000}/1001` },
  ];
  const mHz = Math.max(1, Math.round(fps * 1000));
  return (
    common.find((rate) => Math.abs(fps - rate.fps) <= rate.fps * NEAR) ?? { fps: mHz / 1000, fraction: `${mHz}/1000` }
  );
}
