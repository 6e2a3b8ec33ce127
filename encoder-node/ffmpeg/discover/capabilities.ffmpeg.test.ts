import { execFile } from "node:child_process";
import { readFile, rm, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { createLogger } from "#shared/log.ts";
import { OPTIONAL_FILTERS, OPTIONAL_MUXERS } from "#shared/plan/command/capabilities.ts";
import { SOFTWARE_ENCODERS } from "#shared/plan/encoders/software-encoders.ts";
import { Capabilities } from "#shared/protocol/capabilities.ts";
import { emptiedFolder } from "../../../test/fixtures.ts";
import { few } from "../../testing/few.ts";
import { withoutSandbox } from "../sandbox/isolation.ts";
import { probeCapabilities } from "./capabilities.ts";
import { findCandidates, locateFfmpeg, type Tool } from "./locate.ts";
import { findSoftwareEncoders } from "./software-encoders.ts";

const { ffmpeg } = await locateFfmpeg(process.env);
const EVERY = new Set<string>(SOFTWARE_ENCODERS);

const folder = emptiedFolder();
let cacheFile: string;
let lines: string[];
const log = createLogger({ write: (line) => lines.push(line), now: Date.now, level: "info" });
beforeEach(async () => {
  lines = [];
  cacheFile = join(folder, "encoders.json");
});

/** The ffmpeg builds on this machine, each with its own list of encoders. */
async function installed(): Promise<{ tool: Tool; listed: string }[]> {
  const builds = [];
  for (const candidate of findCandidates(process.env).ffmpeg) {
    const answer = await promisify(execFile)(candidate.path, ["-encoders"], { maxBuffer: 1 << 22 }).catch(() => null);
    if (answer) builds.push({ tool: { ...candidate, version: "any" }, listed: answer.stdout });
  }
  return builds;
}

it("reports and logs the real capabilities of this installation's ffmpeg", async () => {
  const capabilities = Capabilities.parse(await probeCapabilities({ ffmpeg, hw: "off", cacheFile, log }));
  expect(capabilities).toMatchObject({ ffmpegVersion: ffmpeg.version, cpus: availableParallelism(), hardware: null });
  expect(capabilities.encoders).toEqual(expect.arrayContaining(["libx264", "aac"]));
  if (ffmpeg.path.includes("@ffmpeg-binary"))
    expect(capabilities).toMatchObject({
      encoders: SOFTWARE_ENCODERS,
      filters: OPTIONAL_FILTERS,
      muxers: OPTIONAL_MUXERS,
    });
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({
      message: "ffmpeg capabilities detected",
      ffmpeg: ffmpeg.version,
      encoders: capabilities.encoders.join(", "),
      hardware: "none",
    }),
  ]);
});

few(0).each(await installed())("$tool.path can use every encoder that it lists", async ({ tool, listed }) => {
  const { works, unusable } = await findSoftwareEncoders(tool, EVERY, cacheFile);
  // The fourth flag marks experimental encoders, which are not used.
  const expected = SOFTWARE_ENCODERS.filter((name) => new RegExp(`^ [VA]..[.].. ${name} `, "m").test(listed));
  expect(works).toEqual(expected);
  expect(works.length + unusable.size).toBe(SOFTWARE_ENCODERS.length);
});

it("tries working encoders once per build, and failed encoders at each start", async () => {
  onTestFinished(await withoutSandbox());
  const calls = join(folder, "calls");
  const path = join(folder, "ffmpeg");
  const script = `#!/bin/sh\necho "$*" >> ${calls}\ncase "$*" in *libx265*) exit 1;; esac\n`;
  await writeFile(path, script, { mode: 0o755 });
  const tool = { path, version: "7", origin: "env" } as const;
  const listed = new Set(["libx264", "libx265", "aac"]);
  const tried = async (): Promise<number> => {
    const { works, unusable } = await findSoftwareEncoders(tool, listed, cacheFile);
    expect([works, unusable.get("libx265"), unusable.get("flac")]).toEqual([
      ["libx264", "aac"],
      "exit code 1",
      "not built in",
    ]);
    const count = (await readFile(calls, "utf8")).trim().split("\n").length;
    await rm(calls);
    return count;
  };
  expect([await tried(), await tried()]).toEqual([3, 1]);
  await writeFile(cacheFile, "{");
  expect(await tried()).toBe(3);
  await writeFile(path, `${script}#`);
  expect(await tried()).toBe(3);
});

it("rejects an ffmpeg without the encoders that every job needs", async () => {
  const path = join(folder, "ffmpeg");
  await writeFile(
    path,
    `#!/bin/sh
case "$*" in *-encoders*) echo ' V....D libx264 x264';; *libx264*) echo '[libx264 @ 0x5] broken' >&2; exit 1;; esac
`,
    { mode: 0o755 },
  );
  const broken = { path, version: "7", origin: "env" } as const;
  await expect(probeCapabilities({ ffmpeg: broken, hw: "off", cacheFile, log })).rejects.toThrow(
    /libx264: broken.*FFMPEG_PATH/,
  );
});
