import { expect, test } from "vitest";
import { valueAt, withValue } from "./edit.ts";

const LIST = { overlays: [{ url: "a", x: 1 }, { text: "b" }] };

test.each<[name: string, before: Record<string, unknown>, value: unknown, after: object]>([
  ["adds a member", {}, "c", { overlays: { url: "c" } }],
  [
    "changes the first item of a list, and keeps the others",
    LIST,
    "c",
    { overlays: [{ url: "c", x: 1 }, { text: "b" }] },
  ],
  ["removes a member of the first item", LIST, undefined, { overlays: [{ x: 1 }, { text: "b" }] }],
  ["fills an empty list", { overlays: [] }, "c", { overlays: [{ url: "c" }] }],
  ["removes an object that becomes empty", { overlays: { url: "a" } }, undefined, {}],
])("a value at a path %s", (_, before, value, after) => {
  const changed = withValue(before, ["overlays", "url"], value);
  expect(changed).toEqual(after);
  expect(valueAt(changed, ["overlays", "url"])).toBe(value);
});
