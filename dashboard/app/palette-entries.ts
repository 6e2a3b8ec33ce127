// Entries of the palette that need no request to the service. Pure.
import type { ShortcutGroup } from "../core/keyboard.ts";
import type { SavedView } from "../core/preferences.ts";

/** A place to go to, or a command to run. */
export type Entry = {
  readonly key: string;
  readonly kind: "command" | "view" | "page" | "job";
  readonly text: string;
  /** The keys that do the same. */
  readonly keys?: string;
} & ({ readonly to: string } | { readonly run: () => void });

/** Keys that move the selection, or that act on the focused element. */
const OF_FOCUS = /Arrow|Enter|Escape|^ $|^x$/;

/** A tab of the settings. */
type Tab = { readonly name: string; readonly label: string };

/** The commands of the visible parts, the newest part first, then the saved views, then the tabs of the settings. */
export function entriesOf(
  groups: readonly ShortcutGroup[],
  views: readonly SavedView[],
  tabs: readonly Tab[],
): Entry[] {
  const commands = groups.toReversed().flatMap(({ keys }) => Object.entries(keys));
  return [
    ...commands
      .filter(([keys, { when }]) => !OF_FOCUS.test(keys) && (when?.() ?? true))
      .map(([keys, { help, run }]) => {
        return {
          key: `${keys} ${help}`,
          kind: "command" as const,
          text: help,
          keys,
          run: () => run(new KeyboardEvent("keydown")),
        };
      }),
    ...views.map(({ name, address }) => ({ key: `view ${name}`, kind: "view" as const, text: name, to: address })),
    ...tabs.map(({ name, label }) => {
      return { key: `tab ${name}`, kind: "page" as const, text: `Settings: ${label}`, to: `/settings?tab=${name}` };
    }),
  ];
}

/** The entries that contain all words, in any order. Entries that start with the first word come first. */
export function matching(entries: readonly Entry[], text: string): Entry[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const [first = ""] = words;
  const begins = ({ text }: Entry): number => (text.toLowerCase().startsWith(first) ? 0 : 1);
  return entries
    .filter((entry) => words.every((word) => entry.text.toLowerCase().includes(word)))
    .toSorted((a, b) => begins(a) - begins(b));
}
