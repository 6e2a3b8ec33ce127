// Shortens the text of plans, so that tests name only the filters under test.

const SIDE = String.raw`'if\(between\(dar,[\d.]+,[\d.]+\),(\d+),clip\([^']*\)\)'`;
const FITTING = new RegExp(String.raw`scale=w=${SIDE}:h=${SIDE}:eval=frame([^,]*),pad=\1:\2:-1:-1:eval=frame`, "g");

/** Removes the fitting of frames with a different shape than the source's: `scale` keeps only its size. */
export const withoutFitting = (text: string): string => text.replace(FITTING, "scale=$1:$2$3");

/**
 * Returns the value of `-af` that fills gaps with silence from time 0 on, for audio that starts before `limit` seconds.
 */
export const filledFromZero = (mix = "", limit = "0.1"): string =>
  `${mix}aresample=async=1:min_hard_comp=0.015,aloop=loop=1:size=1,atrim=start_sample=1,asetpts='if(eq(N,0)*lt(T,${limit}),0,PTS-1/SR/TB)',aresample=async=1:min_hard_comp=0.001`;
