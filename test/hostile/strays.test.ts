// The node opens only the file itself, whatever other files it names.
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openingArguments } from "#shared/plan/command/opening-arguments.ts";
import { toolEnvironment } from "../../encoder-node/ffmpeg/sandbox/tool-environment.ts";
import { few } from "../../encoder-node/testing/few.ts";
import { tools } from "../../encoder-node/testing/task-deps.ts";
import { type Lab, openLab } from "./lab.ts";
import { movie } from "./small-clips.ts";
import { type Bait, STRAYS } from "./strays.ts";

let lab: Lab;
let bait: Bait;
let hits = 0;
const server = createServer((_request, response) => response.end());
server.on("connection", () => {
  hits += 1;
});
beforeAll(async () => {
  lab = await openLab();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const path = join(lab.folder, "other-client.mov");
  await writeFile(path, movie({ frames: 50 }));
  bait = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret.ts`, path };
});
afterAll(async () => {
  server.close();
  await lab.close();
});

const bare = (tool: { path: string }, argv: string[]): Promise<unknown> =>
  promisify(execFile)(tool.path, argv, { env: toolEnvironment() }).catch(() => undefined);

it("can detect strays: ffprobe requests the bait if its lists allow that, and the bait can be encoded", async () => {
  const path = join(lab.folder, "video.mp4");
  await writeFile(path, STRAYS["a manifest of an address"]?.bytes(bait) ?? "");
  // Without any list, only builds before the fix of CVE-2023-6605 request it.
  await bare(tools.ffprobe, ["-v", "error", "-protocol_whitelist", "file,http,tcp", path]);
  expect(hits).toBeGreaterThan(0);
  expect((await lab.judge(bait.path)).outcomes).toEqual(["made", "made", "input_has_no_audio"]);
  hits = 0;
});

/** A name for each kind of playlist. */
const NAMES = ["video.mp4", "video.ts", "video.m3u8"];

few(4).each(Object.entries(STRAYS))("%s", async (_what, { bytes, holds }) => {
  const content = bytes(bait);
  for (const name of holds === "none" ? NAMES : NAMES.slice(0, 1)) {
    const path = join(lab.folder, name);
    await writeFile(path, content);
    const verdict = await lab.judge(path);
    if (holds === "own") expect(verdict).toMatchObject({ outcomes: ["made", "made", "input_has_no_audio"] });
    else expect(verdict.outcomes).not.toContain("made");
    expect(verdict.outcomes).not.toContain("unknown");
    // Repeat it with access to the network, which the sandbox would deny: only the lists of protocols and formats
    // protect.
    const argv = [...openingArguments([{ path }]), "-frames:v", "2", "-f", "null", "-"];
    await bare(tools.ffmpeg, argv);
    const probing = ["-v", "error", ...argv.slice(argv.indexOf("-protocol_whitelist"), argv.indexOf("-max_pixels:v"))];
    await promisify(execFile)(tools.ffprobe.path, [...probing, path], { env: toolEnvironment() }).catch(
      () => undefined,
    );
  }
  expect(hits).toBe(0);
  expect((await readFile(bait.path)).equals(movie({ frames: 50 }))).toBe(true);
  expect(await lab.leftovers()).toEqual([]);
});
