import { expect, it } from "vitest";
import { entriesOf, matching } from "./palette-entries.ts";

const shortcut = (help: string, when?: () => boolean) => ({ help, run: () => undefined, ...(when && { when }) });
const GROUPS = [
  { title: "Everywhere", keys: { n: shortcut("New job"), "g n": shortcut("Go to nodes", () => false) } },
  {
    title: "Job",
    keys: { c: shortcut("Cancel the job"), "j, ArrowDown": shortcut("Next job"), x: shortcut("Select the job") },
  },
];
const VIEWS = [{ name: "Failed jobs of this week", address: "/?status=failed&from=7d" }];
const TABS = [{ name: "keys", label: "Keys" }];
const textsMatching = (text: string) => matching(entriesOf(GROUPS, VIEWS, TABS), text).map((entry) => entry.text);

it.each<[typed: string, texts: string[]]>([
  ["", ["Cancel the job", "New job", "Failed jobs of this week", "Settings: Keys"]],
  ["job", ["Cancel the job", "New job", "Failed jobs of this week"]],
  ["new", ["New job"]],
  ["week FAILED", ["Failed jobs of this week"]],
  ["keys", ["Settings: Keys"]],
  ["nodes", []],
])(
  "the palette text %j finds the commands that have an effect now, saved views and tabs of the settings",
  (typed, texts) => {
    expect(textsMatching(typed)).toEqual(texts);
  },
);

it("lists the entries first that start with the typed word", () => {
  expect(textsMatching("n")).toEqual(["New job", "Cancel the job", "Settings: Keys"]);
});
