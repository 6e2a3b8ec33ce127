// Keyboard shortcuts: pages register theirs while they are shown, and the help dialog lists them.
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { preferences } from "./preferences.ts";

export type Shortcut = {
  /** A text for the help dialog, such as "Search". */
  readonly help: string;
  readonly run: (event: KeyboardEvent) => void;
  /** While this is false, the help does not list the shortcut, and the browser handles the key. */
  readonly when?: () => boolean;
};
/**
 * Shortcuts by their keys: a `KeyboardEvent.key` ("j", "Enter", "Escape", "?"), a sequence with spaces ("g j"), or
 * alternatives ("j, ArrowDown").
 */
export type Shortcuts = Readonly<Record<string, Shortcut>>;
export type ShortcutGroup = { readonly title: string; readonly keys: Shortcuts };

/** The groups of all visible parts, the newest last. */
export const shortcutGroups = signal<readonly ShortcutGroup[]>([]);

/** The group of shortcuts that work on all pages. The shortcuts of a page override them. */
export const EVERYWHERE = "Everywhere";

/** The longest time between two keys of a sequence. */
const SEQUENCE_MS = 1500;
let pressed = "";
let pressedAt = 0;

/** Registers shortcuts while the component is shown. The newest shortcut with a key wins. */
export function useKeys(keys: Shortcuts, title = "This page"): void {
  // Calls the functions of the latest rendering, without registering again.
  const latest = useRef(keys);
  latest.current = keys;
  const names = Object.keys(keys).join("\n");
  useEffect(() => {
    const stable = names.split("\n").flatMap((name) => {
      const shortcut = latest.current[name];
      if (!shortcut) return [];
      const run = (event: KeyboardEvent): void => latest.current[name]?.run(event);
      const when = (): boolean => latest.current[name]?.when?.() ?? true;
      return [[name, { help: shortcut.help, run, when }] as const];
    });
    const group = { title, keys: Object.fromEntries(stable) };
    const others = shortcutGroups.peek();
    shortcutGroups.value = title === EVERYWHERE ? [group, ...others] : [...others, group];
    return () => {
      shortcutGroups.value = shortcutGroups.peek().filter((other) => other !== group);
    };
  }, [names, title]);
}

/** True if the key is text for the focused field. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.matches("textarea, select")) return true;
  return target instanceof HTMLInputElement && !/^(checkbox|radio|button|submit|reset|file|color)$/.test(target.type);
}

/** True if the focused element handles the key: Enter and space in a button or link, arrows in a list or slider. */
function belongsToTarget(key: string, target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (key === "Enter" || key === " ") return target.closest("a, button, summary, input, label, [role=tab]") !== null;
  return key.startsWith("Arrow") && target.closest("[role=tablist], [role=slider], input, video, audio") !== null;
}

/** The shortcut for the pressed keys, and whether they start a sequence. Pure, for tests. */
export function findShortcut(
  groups: readonly ShortcutGroup[],
  keys: string,
): { run?: Shortcut["run"]; begins: boolean } {
  let begins = false;
  for (const { keys: shortcuts } of [...groups].reverse()) {
    for (const [names, { run, when }] of Object.entries(shortcuts)) {
      if (when && !when()) continue;
      for (const name of names.split(", ")) {
        if (name === keys) return { run, begins: false };
        if (name.startsWith(`${keys} `)) begins = true;
      }
    }
  }
  return { begins };
}

function onKeyDown(event: KeyboardEvent): void {
  const { key, target } = event;
  if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  // An open dialog handles the keyboard itself; the browser closes it with Escape.
  if (document.querySelector("dialog:modal")) return;
  if (isTyping(target)) {
    if (key === "Escape" && target instanceof HTMLElement) target.blur();
    return;
  }
  if (belongsToTarget(key, target)) return;
  // Speech input may type single letters, so people can switch these shortcuts off (WCAG 2.1.4).
  if (!preferences.value.shortcuts && key.length === 1) return;
  const sequence = pressed !== "" && event.timeStamp - pressedAt < SEQUENCE_MS ? `${pressed} ${key}` : key;
  const shortcut = findShortcut(shortcutGroups.peek(), sequence);
  const { run, begins } =
    shortcut.run || shortcut.begins || sequence === key ? shortcut : findShortcut(shortcutGroups.peek(), key);
  pressed = begins ? key : "";
  pressedAt = event.timeStamp;
  if (!run) return;
  event.preventDefault();
  run(event);
}

globalThis.document?.addEventListener("keydown", onKeyDown);
