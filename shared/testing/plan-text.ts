// Shortens the text of plans, so that tests name the filters that they are about.

const SIDE = String.raw`'if\(between\(dar,[\d.]+,[\d.]+\),(\d+),clip\([^']*\)\)'`;
const FITTING = new RegExp(String.raw`scale=w=${SIDE}:h=${SIDE}:eval=frame([^,]*),pad=\1:\2:-1:-1:eval=frame`, "g");

/** A plan without what its filters do to frames of another shape than the source's: `scale` has only its size. */
export const withoutFitting = (text: string): string => text.replace(FITTING, "scale=$1:$2$3");
