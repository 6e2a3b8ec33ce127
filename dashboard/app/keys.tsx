// Renders the keys of a shortcut.
import type { JSX } from "preact";

const NAMES: Readonly<Record<string, string>> = {
  ArrowDown: "↓",
  ArrowUp: "↑",
  ArrowLeft: "←",
  ArrowRight: "→",
  Escape: "Esc",
  " ": "Space",
};

/** Renders `j, ArrowDown` as "j or ↓", and `g j` as "g then j". */
export function Keys({ keys }: { readonly keys: string }) {
  const parts: (JSX.Element | string)[] = [];
  for (const [at, sequence] of keys.split(", ").entries()) {
    if (at > 0) parts.push(" or ");
    for (const [place, key] of (sequence === " " ? [sequence] : sequence.split(" ")).entries()) {
      if (place > 0) parts.push(" then ");
      parts.push(<kbd key={`${at} ${place}`}>{NAMES[key] ?? key}</kbd>);
    }
  }
  return <>{parts}</>;
}
