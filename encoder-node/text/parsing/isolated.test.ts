// Hostile captions, each of which ended a node or kept it busy for minutes.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { type BurnSpec, DEFAULT_STYLE } from "#shared/job/burn.ts";
import { fileFolder } from "../../../test/fixtures.ts";
import { type FontFile, packagedFonts } from "../burn-in/node-fonts.ts";
import { isolated } from "./isolated.ts";
import type { ForeignFile } from "./parsers.ts";
import type { LIMITS } from "./too-complex.ts";

const never = new AbortController().signal;
const BURN: BurnSpec = { style: DEFAULT_STYLE, keepsStyle: true, shiftMs: 0 };
const folder = fileFolder();
let known: readonly FontFile[];
beforeAll(async () => {
  known = await packagedFonts();
});

async function fileOf(text: string) {
  const path = join(folder, "captions");
  await writeFile(path, text);
  return { path, maxBytes: 10e6 };
}

function read(file: ForeignFile, signal = never, limits?: typeof LIMITS) {
  const [chosen] = known;
  if (!chosen) throw new Error("no font");
  return isolated("captionScript", [file, { language: "", format: null }, BURN, { chosen, known }], signal, limits);
}

const clock = (ms: number): string => new Date(ms).toISOString().slice(11, 23);
const cue = (text: string, fromMs: number, toMs: number): string => `${clock(fromMs)} --> ${clock(toMs)}\n${text}\n\n`;
const cues = (count: number): string =>
  Array.from({ length: count }, (_, at) => cue("a", at * 10, at * 10 + 9)).join("");
const FORMAT = "[Script Info]\n[Events]\nFormat: Start, End, Text\n";
const line = (text: string, from: string, to: string): string => `Dialogue: ${from},${to},${text}\n`;
const sixMegabytes = [
  ...Array.from({ length: 300 }, () => line("y".repeat(19_000), "0:00:00.00", "1:00:00.00")),
  ...Array.from({ length: 300 }, (_, at) => line("y", `0:00:01.${at}`.slice(0, 10), `0:00:02.${at}`.slice(0, 10))),
].join("");

const LONG = "x".repeat(200_000);
const OVERLAP = "too many of its captions overlap";

it.each<[string, () => string, string | number]>([
  ["a cue of 200 kB over 4,000 cues", () => `WEBVTT\n\n${cue(LONG, 0, 1e6)}${cues(4000)}`, OVERLAP],
  ["the same in SubRip", () => `1\n${cue(LONG, 0, 1e6)}${cues(4000)}`.replaceAll(".", ","), OVERLAP],
  ["6 MB of ASS with 300 lines of 19 kB over 300 lines", () => FORMAT + sixMegabytes, OVERLAP],
  [
    "ASS with 5,000 fields and 500,000 lines",
    () =>
      `[Script Info]\n[Events]\nFormat: ${Array.from({ length: 5000 }, (_, at) => at).join()}\n${"Dialogue: x\n".repeat(500_000)}`,
    0,
  ],
  ["150,000 events of ASS", () => FORMAT + line("a", "0:00:00.00", "0:00:01.00").repeat(150_000), "too many events"],
  ["letters that no font has", () => `WEBVTT\n\n${cue("\u{20000}", 0, 1000)}`, "no font has \u{20000} (U+20000)"],
])("reads or rejects %s", async (_, text, expected) => {
  const reading = read(await fileOf(text()));
  if (typeof expected === "number") expect((await reading).script.events).toHaveLength(expected);
  else {
    const message = expect.stringContaining(expected);
    await expect(reading).rejects.toMatchObject({ code: "subtitle_failed", message });
  }
});

it.each([
  ["time", { seconds: 0.001, heapMb: 1024 }],
  ["memory", { seconds: 60, heapMb: 8 }],
])("fails as too complex when a parser takes too much %s", async (_, limits) => {
  const message = "it is too complex: reading it takes more than 60 s or 1 GB of memory";
  const reading = read(await fileOf(`WEBVTT\n\n${cues(100_000)}`), never, limits);
  await expect(reading).rejects.toMatchObject({ code: "subtitle_failed", message });
});

it("reads a text without captions as an error of the text", async () => {
  const message = expect.stringContaining("it is neither SubRip, WebVTT");
  await expect(read(await fileOf("<html></html>"))).rejects.toMatchObject({ code: "subtitle_failed", message });
});

it("stops a parser whose task is aborted", async () => {
  const file = await fileOf(`WEBVTT\n\n${cues(100_000)}`);
  const task = new AbortController();
  const reading = read(file, task.signal);
  task.abort("cancelled");
  await expect(reading).rejects.toBe("cancelled");
  await expect(read(file, task.signal)).rejects.toBe("cancelled");
});
