// Files that declare huge content cost bounded time and memory, get a clear error, and leave the node working.
import { spawn } from "node:child_process";
import { open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import type { OutputOptions } from "#shared/testing/output-specs.ts";
import { tools } from "../../encoder-node/testing/task-deps.ts";
import { BOMBS } from "./bombs.ts";
import { watchChildren } from "./children.ts";
import { type Lab, openLab, TOOLS } from "./lab.ts";
import { movie } from "./small-clips.ts";

/** The most memory that ffmpeg may use for a file. The time limit of each test ends long work. */
const MOST_MIB = 1500;
/** Outputs of the full length: no limit on an output's duration bounds the work. */
const WHOLE: readonly OutputOptions[] = [{ format: "mp4:64x" }, { format: "jpg:32x", number: 1 }, { format: "mp3" }];

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
});
afterAll(() => lab.close());

async function isHarmless(path: string, ends: "made" | "refused" | "either"): Promise<void> {
  const verdict = await lab.judge(path, WHOLE);
  if (process.env.COPRA_SOAK) console.log(JSON.stringify({ path: path.split("/").at(-1), ...verdict }));
  expect(verdict.outcomes).not.toContain("unknown");
  if (ends === "refused") expect(verdict.outcomes).not.toContain("made");
  expect(verdict.peakMiB).toBeLessThan(MOST_MIB);
  expect(await lab.leftovers()).toEqual([]);
}

it.each(Object.entries(BOMBS))("%s", async (what, { bytes, ends }) => {
  const path = join(lab.folder, what);
  await writeFile(path, await bytes(lab.make));
  await isHarmless(path, ends);
});

it("4 GB of nothing", async () => {
  const path = join(lab.folder, "4 GB of nothing");
  const file = await open(path, "w");
  await file.truncate(4e9);
  await file.close();
  await isHarmless(path, "refused");
});

it("leaves the node in working order", async () => {
  const path = join(lab.folder, "good.mov");
  await writeFile(path, movie());
  const verdict = await lab.judge(path, WHOLE);
  expect(verdict.outcomes).toEqual(["made", "made", "input_has_no_audio"]);
});

// Without this check, a measurement that finds no process would go unnoticed.
it.runIf(process.platform === "linux")("measures the memory of running tools", async () => {
  const watch = watchChildren(TOOLS);
  // ffmpeg waits for its input.
  const tool = spawn(tools.ffmpeg.path, ["-v", "quiet", "-i", "pipe:0"], { stdio: ["pipe", "ignore", "ignore"] });
  await vi.waitFor(() => expect(watch.peakMiB()).toBeGreaterThan(0));
  watch.stop();
  tool.stdin.end();
});
