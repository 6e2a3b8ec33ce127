// The visible period of the timeline, and its changes by pointer and keyboard.
import { useRef, useState } from "preact/hooks";
import { type Period, panned, type Scale, timeAt, within, zoomed } from "./layout.ts";

export type Brush = { readonly from: number; readonly to: number };

/** Shorter drags, in pixels, are clicks. */
const MIN_DRAG = 6;
const STEP = 0.5;

export type Zoom = ReturnType<typeof useZoom>;

/** `whole`: the period that is visible at first. It may grow. */
export function useZoom(whole: Period) {
  const [chosen, choose] = useState<Period | null>(null);
  const shown = chosen === null ? whole : within(chosen, whole);
  const set = (period: Period): void =>
    choose(period.fromMs === whole.fromMs && period.toMs === whole.toMs ? null : period);
  return {
    shown,
    isZoomed: chosen !== null,
    by: (factor: number, centerMs = (shown.fromMs + shown.toMs) / 2) => set(zoomed(shown, whole, factor, centerMs)),
    pan: (share: number) => set(panned(shown, whole, share)),
    show: (period: Period) => set(within(period, whole)),
    reset: () => choose(null),
  };
}

export const ZOOM_IN = STEP;
export const ZOOM_OUT = 1 / STEP;

type Drag = { readonly x: number; readonly pointer: number; moved: boolean };

/**
 * Handlers for an element: a horizontal drag selects a period to show. `left`: start of the scale, in pixels. `click`:
 * called for a click without a drag.
 */
export function useBrush(
  scale: Scale,
  left: number,
  show: (period: Period) => void,
  click: (event: PointerEvent) => void,
) {
  const [brush, setBrush] = useState<Brush | null>(null);
  const drag = useRef<Drag | null>(null);
  const positionOf = (event: PointerEvent): number => {
    const { left: edge } = (event.currentTarget as Element).getBoundingClientRect();
    return Math.min(scale.width, Math.max(0, event.clientX - edge - left));
  };
  const onPointerDown = (event: PointerEvent): void => {
    if (event.button !== 0 || !event.isPrimary) return;
    drag.current = { x: positionOf(event), pointer: event.pointerId, moved: false };
  };
  const onPointerMove = (event: PointerEvent): void => {
    const begun = drag.current;
    if (begun?.pointer !== event.pointerId) return;
    const x = positionOf(event);
    if (!begun.moved && Math.abs(x - begun.x) < MIN_DRAG) return;
    if (!begun.moved) (event.currentTarget as Element).setPointerCapture(event.pointerId);
    begun.moved = true;
    setBrush({ from: begun.x, to: x });
  };
  const onPointerUp = (event: PointerEvent): void => {
    const begun = drag.current;
    drag.current = null;
    setBrush(null);
    if (begun?.pointer !== event.pointerId) return;
    if (!begun.moved) return click(event);
    const [a, b] = [begun.x, positionOf(event)].sort((one, other) => one - other);
    if (a !== undefined && b !== undefined && b > a) show({ fromMs: timeAt(scale, a), toMs: timeAt(scale, b) });
  };
  const onPointerCancel = (): void => {
    drag.current = null;
    setBrush(null);
  };
  return { brush, handlers: { onPointerDown, onPointerMove, onPointerUp, onPointerCancel } };
}
