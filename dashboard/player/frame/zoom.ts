// An enlarged and moved view, the same for both media.

/** `x` and `y`: the shift of the content, in shares of the view's width and height. */
export type View = { readonly scale: number; readonly x: number; readonly y: number };

export const WHOLE: View = { scale: 1, x: 0, y: 0 };
const SCALES = [1, 2, 4, 8];

const clamp = (value: number, limit: number): number => Math.min(limit, Math.max(-limit, value)) + 0;

/** Moves the content of the view. The content always covers the view. */
export function moved({ scale, x, y }: View, byX: number, byY: number): View {
  const limit = (scale - 1) / 2;
  return { scale, x: clamp(x + byX, limit), y: clamp(y + byY, limit) };
}

/** The next larger (1) or smaller (-1) view, with the same center. */
export function zoomed({ scale, x, y }: View, step: 1 | -1): View {
  const at = Math.min(SCALES.length - 1, Math.max(0, SCALES.indexOf(scale) + step));
  const next = SCALES[at] ?? 1;
  return moved({ scale: next, x: (x / scale) * next, y: (y / scale) * next }, 0, 0);
}
