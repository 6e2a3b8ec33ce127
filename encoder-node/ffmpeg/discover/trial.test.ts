import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, it, vi } from "vitest";
import { fileFolder } from "../../../test/fixtures.ts";
import { freeBytes } from "../run-command.ts";
import { findIsolation } from "../sandbox/isolation.ts";
import { runTrial } from "./trial.ts";

const folder = fileFolder();
beforeAll(async () => {
  await findIsolation();
});

async function toolThat(does: string): Promise<Parameters<typeof runTrial>[0]> {
  const path = join(folder, "ffmpeg");
  await writeFile(path, `#!/bin/sh\n${does}\n`, { mode: 0o755 });
  return { path, version: "7", origin: "env" };
}

// /proc is a file system without free space on every Linux.
it.skipIf((await freeBytes("/proc")) > 0)("needs no disk space", async () => {
  const slow = await toolThat("sleep 0.6");
  vi.stubEnv("TMPDIR", "/proc");
  try {
    expect(await runTrial(slow, [])).toEqual({ works: true });
  } finally {
    vi.unstubAllEnvs();
  }
});

it.each([
  ["sleep 9", "no frame within 0.4 s"],
  ["kill -XCPU $$", "it exceeded its time limit"],
  ["echo '[libx264 @ 0x5] broken' >&2; exit 1", "broken"],
  ["exit 3", "exit code 3"],
  ["kill -SEGV $$", "ffmpeg crashed"],
])("reports why a trial failed: %s", async (does, reason) => {
  const limitMs = does === "sleep 9" ? 400 : 10_000;
  expect(await runTrial(await toolThat(does), [], { limitMs })).toEqual({ works: false, busy: false, reason });
});
