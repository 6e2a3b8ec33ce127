// Frame rates as playlists and manifests write them.

/** Usual for television and film; those that NTSC slowed down are 1000/1001 of whole ones. */
type Rate = { readonly fps: number; readonly fraction: string };

/** Half of what lies between 30 and 30000/1001: a mean so near to a usual rate is that of a film that has it. */
const NEAR = 0.0005;

/** The usual rate next to this mean of frames per second, or the mean itself to a thousandth. */
export function rateOf(fps: number): Rate {
  const whole = Math.max(1, Math.round(fps));
  const usual: Rate[] = [
    { fps: whole, fraction: String(whole) },
    { fps: (whole * 1000) / 1001, fraction: `${whole * 1000}/1001` },
  ];
  const own = Math.max(1, Math.round(fps * 1000));
  return (
    usual.find((rate) => Math.abs(fps - rate.fps) <= rate.fps * NEAR) ?? { fps: own / 1000, fraction: `${own}/1000` }
  );
}
