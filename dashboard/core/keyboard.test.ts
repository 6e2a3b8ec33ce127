import { expect, it } from "vitest";
import { findShortcut, type ShortcutGroup } from "./keyboard.ts";

const called: string[] = [];
const shortcut = (name: string, when?: () => boolean) => ({
  help: name,
  run: () => called.push(name),
  ...(when ? { when } : {}),
});
const GROUPS: readonly ShortcutGroup[] = [
  { title: "Everywhere", keys: { "g j": shortcut("jobs"), "?": shortcut("help"), j: shortcut("old") } },
  { title: "Jobs", keys: { "j, ArrowDown": shortcut("next"), "?": shortcut("never", () => false) } },
];

it.each([
  ["j", ["next"], false],
  ["ArrowDown", ["next"], false],
  ["?", ["help"], false],
  ["g", [], true],
  ["g j", ["jobs"], false],
  ["g x", [], false],
  ["G", [], false],
])("the keys %s run the shortcut %j", (keys, expected, begins) => {
  called.length = 0;
  const shortcut = findShortcut(GROUPS, keys);
  shortcut.run?.(new Event("keydown") as KeyboardEvent);
  expect([called, shortcut.begins]).toEqual([expected, begins]);
});
