import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it, test } from "vitest";
import { createLogger } from "#shared/log.ts";
import { fileFolder } from "../../../test/fixtures.ts";
import { withoutSandbox } from "../sandbox/isolation.ts";
import { probeCapabilities } from "./capabilities.ts";
import { findHardware, type HardwareChoice, type HardwareFinding } from "./hardware.ts";
import { locateFfmpeg, type Tool } from "./locate.ts";

const ENCODERS =
  "libx264 aac h264_nvenc hevc_nvenc av1_nvenc h264_qsv hevc_qsv av1_qsv h264_vaapi hevc_vaapi av1_vaapi".split(" ");
const LIST = ENCODERS.map((name) => ` ${name === "aac" ? "A" : "V"}....D ${name} description`).join("\n");

const NO_NVENC = `echo '[h264_nvenc @ 0x5] No capable devices found' >&2
echo '[vost#0:0/h264_nvenc @ 0x6] Error while opening encoder - maybe incorrect parameters' >&2; exit 187`;
const FULL = "echo '[h264_nvenc @ 0x5] OpenEncodeSessionEx failed: out of memory (10): (no details)' >&2; exit 244";
const NEWER_FULL = FULL.replace("out of memory (10)", "incompatible client key (21)");
const NO_DISPLAY = `echo '[AVHWDeviceContext @ 0x5] No VA display found for device /dev/dri/renderD128.' >&2
echo 'Device creation failed: -22.' >&2; exit 234`;

const folder = fileFolder();
beforeAll(withoutSandbox);
beforeAll(async () => {
  await writeFile(join(folder, "card0"), "");
  for (const name of ["renderD129", "renderD128"]) await writeFile(join(folder, name), "");
});

/** An ffmpeg that lists ENCODERS and encodes in software, except for the commands in `cases` (by shell pattern). */
async function fakeFfmpeg(cases: Readonly<Record<string, string>>): Promise<Tool & { calls(): Promise<string[]> }> {
  const path = join(folder, `ffmpeg-${Math.random()}`);
  const branches = Object.entries(cases).map(([pattern, body]) => `${pattern}) ${body};;`);
  const body = `case "$*" in *-encoders*) echo '${LIST}';; ${branches.join("\n")} esac`;
  await writeFile(path, `#!/bin/sh\necho "$*" >> ${path}.calls\n${body}\n`, { mode: 0o755 });
  const calls = async (): Promise<string[]> => (await readFile(`${path}.calls`, "utf8")).trim().split("\n");
  return { path, version: "7.0", origin: "env", calls };
}

const NOWHERE = "/nonexistent";
const ALL = ["h264", "hevc", "av1"];
const hardware = (name: "nvenc" | "qsv" | "vaapi", codecs: readonly string[] = ALL, path: string | null = null) => ({
  name,
  path,
  encoders: codecs.map((codec) => `${codec}_${name}`),
});
const node = (number: number): string => join(folder, `renderD${number}`);

type Case = {
  choice?: HardwareChoice;
  cases?: Readonly<Record<string, string>>;
  driFolder?: string;
  expected: () => HardwareFinding;
};
const table: Readonly<Record<string, Case>> = {
  "a GPU whose encoders work": { expected: () => ({ hardware: hardware("nvenc"), failures: [] }) },
  "a GPU that lacks a codec": {
    cases: { "*av1_nvenc*": NO_NVENC },
    expected: () => ({
      hardware: hardware("nvenc", ["h264", "hevc"]),
      failures: ["av1_nvenc: No capable devices found"],
    }),
  },
  "a GPU with decoders and no encoder": {
    cases: { "*_nvenc*": NO_NVENC },
    driFolder: NOWHERE,
    expected: () => ({
      hardware: null,
      failures: [
        "h264_nvenc, hevc_nvenc, av1_nvenc: No capable devices found",
        "qsv: no device /nonexistent/renderD*",
        "vaapi: no device /nonexistent/renderD*",
        "videotoolbox: not built in",
      ],
    }),
  },
  "a GPU without a free session": {
    choice: "nvenc",
    cases: { "*av1_nvenc*": NEWER_FULL, "*_nvenc*": FULL },
    expected: () => ({
      hardware: hardware("nvenc"),
      failures: ["h264_nvenc, hevc_nvenc, av1_nvenc: busy, counted as usable"],
    }),
  },
  "a GPU with fewer sessions than trials at a time": {
    cases: { "*hevc_nvenc*": `[ -e "$0.seen" ] || { touch "$0.seen"; ${FULL}; }` },
    expected: () => ({ hardware: hardware("nvenc"), failures: [] }),
  },
  "the second of two render nodes": {
    choice: "vaapi",
    cases: { "*renderD128*": NO_DISPLAY },
    expected: () => ({
      hardware: hardware("vaapi", ALL, node(129)),
      failures: [`h264_vaapi, hevc_vaapi, av1_vaapi at ${node(128)}: No VA display found for device renderD128`],
    }),
  },
  "the next interface when one does not work": {
    cases: { "*_nvenc*": "exit 3" },
    expected: () => ({
      hardware: hardware("qsv", ALL, node(128)),
      failures: ["h264_nvenc, hevc_nvenc, av1_nvenc: exit code 3"],
    }),
  },
  "only the requested hardware": {
    choice: "videotoolbox",
    expected: () => ({ hardware: null, failures: ["videotoolbox: not built in"] }),
  },
};
test.each(Object.entries(table))("finds %s", async (_, { choice = "auto", cases = {}, driFolder, expected }) => {
  const ffmpeg = await fakeFfmpeg(cases);
  expect(await findHardware(ffmpeg, choice, { driFolder: driFolder ?? folder })).toEqual(expected());
});

it("passes the device to ffmpeg", async () => {
  const ffmpeg = await fakeFfmpeg({});
  for (const choice of ["qsv", "vaapi"] as const) await findHardware(ffmpeg, choice, { driFolder: folder });
  const calls = await ffmpeg.calls();
  expect(calls.filter((call) => call.includes("hevc"))).toEqual([
    `-v error -nostdin -init_hw_device qsv=hw,child_device=${node(128)} -f lavfi -i color=black:s=352x288:r=25 ` +
      "-frames:v 1 -vf format=nv12 -c hevc_qsv -f null -",
    `-v error -nostdin -init_hw_device vaapi=hw:${node(128)} -filter_hw_device hw -f lavfi ` +
      "-i color=black:s=352x288:r=25 -frames:v 1 -vf format=nv12,hwupload -c hevc_vaapi -f null -",
  ]);
});

it("kills a trial that hangs, and counts it as failed", async () => {
  const ffmpeg = await fakeFfmpeg({ "*h264_nvenc*": 'echo $$ > "$0.pid"; exec sleep 600' });
  expect(await findHardware(ffmpeg, "nvenc", { driFolder: NOWHERE, limitMs: 2000 })).toEqual({
    hardware: hardware("nvenc", ["hevc", "av1"]),
    failures: ["h264_nvenc: no frame within 2 s"],
  });
  const hung = Number(await readFile(`${ffmpeg.path}.pid`, "utf8"));
  expect(() => process.kill(hung, 0)).toThrow("ESRCH");
});

it("runs nothing when hardware is off", async () => {
  const ffmpeg = await fakeFfmpeg({});
  expect(await findHardware(ffmpeg, "off", { driFolder: folder })).toEqual({ hardware: null, failures: [] });
  await expect(ffmpeg.calls()).rejects.toThrow("ENOENT");
});

it("reports a file that is no device, with a real ffmpeg", async () => {
  const { ffmpeg } = await locateFfmpeg(process.env);
  const result = await findHardware(ffmpeg, "vaapi", { driFolder: folder });
  expect(result).toEqual({ hardware: null, failures: [expect.any(String), expect.any(String)] });
});

describe("a node's start", () => {
  const start = async (hw: HardwareChoice) => {
    const ffmpeg = await fakeFfmpeg({ "*_nvenc*": NO_NVENC, "*_qsv*": NO_NVENC, "*_vaapi*": NO_NVENC });
    const lines: Record<string, unknown>[] = [];
    const log = createLogger({ write: (line) => lines.push(JSON.parse(line)), now: Date.now, level: "info" });
    const capabilities = await probeCapabilities({ ffmpeg, hw, log, cacheFile: join(folder, "encoders.json") });
    return { capabilities, lines };
  };

  it("falls back to software with --hw auto, and logs the reason", async () => {
    const { capabilities, lines } = await start("auto");
    expect(capabilities.hardware).toBeNull();
    expect(lines.at(-1)).toMatchObject({
      message: "hardware encoders not usable",
      used: "software",
      hw: "auto",
      reason: expect.stringContaining("h264_nvenc, hevc_nvenc, av1_nvenc: No capable devices found; "),
    });
  });

  it("fails when the requested hardware does not work", async () => {
    await expect(start("nvenc")).rejects.toThrow(
      "--hw nvenc does not work on this machine (h264_nvenc, hevc_nvenc, av1_nvenc: No capable devices found). " +
        "Use --hw auto to start the node without it.",
    );
  });
});
