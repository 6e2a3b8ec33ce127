// Moves rows of a table by dragging them with a pointer: a mouse, a pen or a finger.
import { useState } from "preact/hooks";

export type Drag = {
  /** Starts at the handle of a row. The handle must not scroll the page: `touch-action: none`. */
  readonly start: (at: number, event: PointerEvent) => void;
  /** The class of a row that is dragged, or where it goes. */
  readonly rowClass: (at: number) => string | undefined;
};

/** `rows`: the elements of the rows, in order. `move`: moves a row to another place. */
export function useDrag(rows: () => readonly HTMLElement[], move: (from: number, to: number) => void): Drag {
  const [drag, setDrag] = useState<{ readonly from: number; readonly to: number } | null>(null);
  const start = (from: number, event: PointerEvent): void => {
    // No selection of text.
    event.preventDefault();
    if (event.button !== 0) return;
    let to = from;
    const abort = new AbortController();
    const { signal } = abort;
    const end = (): void => {
      abort.abort();
      setDrag(null);
    };
    const follow = ({ clientY }: PointerEvent): void => {
      const all = rows();
      const at = all.findIndex((row) => clientY < row.getBoundingClientRect().bottom);
      to = at < 0 ? all.length - 1 : at;
      // Tall tables on phones: the next rows come into view.
      all[to]?.scrollIntoView({ block: "nearest" });
      setDrag({ from, to });
    };
    const drop = (): void => {
      end();
      if (to !== from) move(from, to);
    };
    const cancel = (key: KeyboardEvent): void => {
      if (key.key !== "Escape") return;
      // Escape would also leave the page.
      key.stopPropagation();
      end();
    };
    setDrag({ from, to });
    addEventListener("pointermove", follow, { signal });
    addEventListener("pointerup", drop, { signal });
    addEventListener("pointercancel", end, { signal });
    addEventListener("keydown", cancel, { signal, capture: true });
  };
  const rowClass = (at: number): string | undefined => {
    if (at === drag?.from) return "dragged";
    return at === drag?.to ? (drag.to < drag.from ? "drop-before" : "drop-after") : undefined;
  };
  return { start, rowClass };
}
