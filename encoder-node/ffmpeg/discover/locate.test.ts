import { chmod, mkdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { createLogger } from "#shared/log.ts";
import { fileFolder } from "../../../test/fixtures.ts";
import { type Candidate, isRecent, locateFfmpeg, readVersion, type ToolOrigin } from "./locate.ts";

const folder = fileFolder();

type Fake = { version?: string; x264?: boolean; mode?: number; script?: string };

/** A program that answers `-version` and `-encoders` as ffmpeg does. */
async function fakeTool(origin: ToolOrigin, name: string, { version = "7.1", x264 = true, mode, script }: Fake = {}) {
  const path = join(folder, name);
  const encoders = x264 ? " V....D libx264              H.264" : " V....D mpeg4                MPEG-4";
  const body = `case "$*" in *-encoders*) echo '${encoders}';; *) echo 'ffmpeg version ${version} Copyright';; esac`;
  await writeFile(path, `#!/bin/sh\n${script ?? body}\n`);
  await chmod(path, mode ?? 0o755);
  return { path, origin } satisfies Candidate;
}

describe("locateFfmpeg", () => {
  type Case = readonly [string, readonly (readonly [ToolOrigin, Fake | null])[], string];
  const UNUSABLE: readonly (readonly [string, Fake])[] = [
    ["an old system build", { version: "4.4.2-0ubuntu0.22" }],
    ["a system build without libx264", { x264: false }],
    ["a system build that crashes", { script: "exit 1" }],
    ["a program of another kind", { script: "echo hi" }],
  ];
  const tool = (origin: ToolOrigin, fake: Fake | null = {}) => [origin, fake] as const;
  const OLD = { version: "4.4", x264: false };
  const NEW = { version: "6.0" };
  const cases: readonly Case[] = [
    ["the operator's choice comes first, whatever its age", [tool("env", OLD), tool("system")], "env"],
    ["the system's comes before the package's", [tool("system"), tool("package")], "system"],
    ["a git build is new enough", [tool("system", { version: "N-115000-gabc" }), tool("package")], "system"],
    ...UNUSABLE.map(([what, fake]): Case => [`${what} is skipped`, [tool("system", fake), tool("package")], "package"]),
    ["missing programs are skipped", [tool("system", null), tool("package", null), tool("package", NEW)], "package"],
  ];

  it.each(cases)("%s", async (name, places, expected) => {
    const candidates = await Promise.all(
      places.map(([origin, fake], i) =>
        fake ? fakeTool(origin, `${name}${i}`, fake) : { origin, path: join(folder, "nowhere") },
      ),
    );
    const ffprobe = [await fakeTool("system", `${name}-ffprobe`, { x264: false })];
    const tools = await locateFfmpeg({}, undefined, { ffmpeg: candidates, ffprobe });
    expect(tools.ffmpeg.origin).toBe(expected);
    expect(tools.ffprobe).toEqual({ path: ffprobe[0]?.path, version: "7.1", origin: "system" });
  });

  it("names the variable when the operator's choice does not work", async () => {
    const good = [await fakeTool("system", "good")];
    const broken = [await fakeTool("env", "broken", { script: "exit 3" }), ...good];
    const missing = [{ origin: "env" as const, path: join(folder, "missing") }, ...good];
    const code = "encoder_not_available";
    await expect(locateFfmpeg({}, undefined, { ffmpeg: broken, ffprobe: good })).rejects.toMatchObject({
      code,
      message: expect.stringMatching(/^FFMPEG_PATH is set, but .*broken does not run/),
    });
    await expect(locateFfmpeg({}, undefined, { ffmpeg: good, ffprobe: missing })).rejects.toMatchObject({
      code,
      message: expect.stringMatching(/^FFPROBE_PATH is set, but there is no file .*missing/),
    });
  });

  it("names the programs to install when it finds none", async () => {
    await expect(locateFfmpeg({}, undefined, { ffmpeg: [], ffprobe: [] })).rejects.toThrow(
      "No ffmpeg found. Install ffmpeg 5 or newer, run npm install with optional dependencies, or set FFMPEG_PATH",
    );
  });

  it("logs which programs it uses and why, which it skipped, and in one line that npm's are only for a trial", async () => {
    const lines: Record<string, unknown>[] = [];
    const log = createLogger({ write: (line) => lines.push(JSON.parse(line)), now: Date.now, level: "info" });
    const candidates = {
      ffmpeg: [
        await fakeTool("system", "log-old", { version: "4.4" }),
        await fakeTool("system", "log-bare", { x264: false }),
        await fakeTool("package", "log-npm", { version: "n7.0-7-gd38bf5e08e" }),
      ],
      ffprobe: [await fakeTool("package", "log-probe", { version: "N-66595-gc2b38619c0-static" })],
    };
    await locateFfmpeg({}, log, candidates);
    const path = (name: string) => expect.stringMatching(`/${name}$`);
    expect(lines).toMatchObject([
      {
        level: "info",
        message: "program selected",
        program: "ffmpeg",
        path: path("log-npm"),
        version: "n7.0-7-gd38bf5e08e",
        why: "installed by npm, because the system has no usable build",
        skipped: expect.stringMatching(/log-old: version 4\.4 is older than 5; \S+log-bare: built without libx264$/),
      },
      { level: "info", message: "program selected", program: "ffprobe", path: path("log-probe"), skipped: "none" },
      { level: "info", message: "ffmpeg from npm in use", advice: expect.stringContaining("apt install ffmpeg") },
    ]);
  });

  it("warns when the system's ffmpeg and ffprobe have different versions", async () => {
    const lines: Record<string, unknown>[] = [];
    const log = createLogger({ write: (line) => lines.push(JSON.parse(line)), now: Date.now, level: "warn" });
    const ffmpeg = [await fakeTool("system", "differ-ffmpeg", { version: "8.1.2" })];
    const ffprobe = [await fakeTool("system", "differ-ffprobe", { version: "7.1.5" })];
    await locateFfmpeg({}, log, { ffmpeg, ffprobe });
    expect(lines).toMatchObject([{ message: "ffmpeg and ffprobe versions differ", ffmpeg: "8.1.2", ffprobe: "7.1.5" }]);
  });

  it("prefers the ffprobe beside the ffmpeg, unless the operator names another", async () => {
    await mkdir(join(folder, "own"));
    const ffmpeg = [await fakeTool("env", "own/ffmpeg", { version: "8.1.2" })];
    await fakeTool("system", "own/ffprobe", { version: "8.1.2" });
    const elsewhere = await fakeTool("system", "elsewhere");
    expect(await locateFfmpeg({}, undefined, { ffmpeg, ffprobe: [elsewhere] })).toMatchObject({
      ffprobe: { path: join(folder, "own/ffprobe"), version: "8.1.2" },
    });
    const named = { ...elsewhere, origin: "env" as const };
    const tools = await locateFfmpeg({}, undefined, { ffmpeg, ffprobe: [named] });
    expect(tools.ffprobe).toMatchObject({ path: elsewhere.path, origin: "env" });
  });

  it.each([0o644, 0o744])("lets every user run a packaged binary of mode %o", async (mode) => {
    const bare = await fakeTool("package", `bare-${mode}`, { mode });
    const tools = await locateFfmpeg({}, undefined, { ffmpeg: [bare], ffprobe: [bare] });
    expect(tools.ffmpeg.path).toBe(bare.path);
    expect((await stat(bare.path)).mode & 0o777).toBe(0o755);
  });

  it("finds working tools in this installation, and prefers the environment's", async () => {
    const packaged = await locateFfmpeg({});
    expect(packaged.ffprobe).toMatchObject({ origin: "package" });
    expect(packaged.ffmpeg).toMatchObject({ origin: "package", version: expect.any(String) });
    const chosen = await locateFfmpeg({ FFMPEG_PATH: packaged.ffmpeg.path });
    expect(chosen.ffmpeg).toEqual({ ...packaged.ffmpeg, origin: "env" });
  });
});

test.each([
  ["ffmpeg version 5.1.9-0+deb12u1 Copyright (c)", "5.1.9-0+deb12u1", true],
  ["ffmpeg version n7.0-7-gd38bf5e08e-20240407 Copyright", "n7.0-7-gd38bf5e08e-20240407", true],
  ["ffprobe version N-66595-gc2b38619c0-static https://x", "N-66595-gc2b38619c0-static", true],
  ["ffmpeg version 8.0 Copyright", "8.0", true],
  ["ffmpeg version 10 Copyright", "10", true],
  ["ffmpeg version 4.4.2-0ubuntu0.22.04.1 Copyright", "4.4.2-0ubuntu0.22.04.1", false],
  ["ffmpeg version n4.4 Copyright", "n4.4", false],
  ["ffmpeg version 2019-05-01-git-abc Copyright", "2019-05-01-git-abc", false],
  ["ffmpeg version git-2018-01-01-abc Copyright", "git-2018-01-01-abc", false],
])("%s", (line, version, recent) => {
  expect(readVersion(line)).toBe(version);
  expect(isRecent(version)).toBe(recent);
});
