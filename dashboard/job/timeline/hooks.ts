// What the drawings of the timeline need of the browser.
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

/** The width of an element in pixels; 0 before it is known. */
export function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const target = element.current;
    if (!target) return;
    setWidth(target.clientWidth);
    const observer = new ResizeObserver(() => setWidth(target.clientWidth));
    observer.observe(target);
    return () => observer.disconnect();
  }, []);
  return width;
}

const FRAME_MS = 100;
const prefersStill = globalThis.matchMedia?.("(prefers-reduced-motion: reduce)");

/**
 * The service's present (`now`) in ms, ten times a second while `isRunning` and the tab is visible. For people who
 * prefer reduced motion, only when `facts` change.
 */
export function useNow(now: () => number, isRunning: boolean, facts: unknown): number {
  const [, setFrame] = useState(0);
  useEffect(() => {
    if (!isRunning || prefersStill?.matches) return;
    const timer = setInterval(() => {
      if (!document.hidden) setFrame((frame) => frame + 1);
    }, FRAME_MS);
    return () => clearInterval(timer);
  }, [isRunning]);
  const frozen = useRef<{ facts: unknown; atMs: number }>(null);
  if (isRunning && !prefersStill?.matches) return now();
  if (frozen.current?.facts !== facts || frozen.current === null) frozen.current = { facts, atMs: now() };
  return frozen.current.atMs;
}
