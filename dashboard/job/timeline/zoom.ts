// The view period of the timeline, and its changes by pointer and keyboard.
import { useRef, useState } from "preact/hooks";
import { type Period, panned, type Scale, timeAt, within, zoomed } from "./layout.ts";

export type Brush = { readonly from: number; readonly to: number };

/** Shorter drags, in pixels, are clicks. */
const MIN_DRAG = 6;
const STEP = 0.5;

export type Zoom = ReturnType<typeof useZoom>;

/** `whole`: the period that is view at first. It may grow. */
export function useZoom(whole: Period) {
  const [chosen, choose] = useState<Period | null>(null);
  const view = chosen === null ? whole : within(chosen, whole);
  const set = (period: Period): void =>
    choose(period.fromMs === whole.fromMs && period.toMs === whole.toMs ? null : period);
  return {
    shown: view,
    isZoomed: chosen !== null,
    by: (factor: number, centerMs = (view.fromMs + view.toMs) / 2) => set(zoomed(view, whole, factor, centerMs)),
    pan: (share: number) => set(panned(view, whole, share)),
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
    const start = drag.current;
    if (start?.pointer !== event.pointerId) return;
    const x = positionOf(event);
    if (!start.moved && Math.abs(x - start.x) < MIN_DRAG) return;
    if (!start.moved) (event.currentTarget as Element).setPointerCapture(event.pointerId);
    start.moved = true;
    setBrush({ from: start.x, to: x });
  };
  const onPointerUp = (event: PointerEvent): void => {
    const start = drag.current;
    drag.current = null;
    setBrush(null);
    if (start?.pointer !== event.pointerId) return;
    if (!start.moved) return click(event);
    const [a, b] = [start.x, positionOf(event)].sort((a, b) => a - b);
    if (a !== undefined && b !== undefined && b > a) show({ fromMs: timeAt(scale, a), toMs: timeAt(scale, b) });
  };
  const onPointerCancel = (): void => {
    drag.current = null;
    setBrush(null);
  };
  return { brush, handlers: { onPointerDown, onPointerMove, onPointerUp, onPointerCancel } };
}
