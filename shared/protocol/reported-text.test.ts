import { expect, test } from "vitest";
import { decodeNodeFrame, PROTOCOL_VERSION } from "./frames.ts";
import { CompleteReport, FailReport } from "./reports.ts";
import { ChunksRequest, ScratchRequest } from "./scratch.ts";
import { UploadsRequest } from "./uploads.ts";

const LEASE = "AAAAAAAAAAAAAA.encode.1";
const PROBE = {
  streams: [{ index: 0, codec_type: "video", codec_name: "h264", color_space: "bt709", tags: { title: "t" } }],
  format: { filename: "input", format_name: "mov,mp4", tags: { title: "t" } },
};
const SCRATCH = { output: 0, track: "video", name: "chunk-1-1/0-video.mp4", sizeBytes: 1, frames: 1 };
const STATISTICS = { mean: 1, harmonic_mean: 1, percentile_1: 1, min: 1 };
const MEASURED = {
  track: "720p",
  model: "vmaf_v0.6.1",
  frames: 1,
  every: 1,
  vmaf: STATISTICS,
  psnr: STATISTICS,
  ssim: STATISTICS,
  width: 1,
  height: 1,
  shown_width: 1,
  shown_height: 1,
  series: { interval_seconds: 1, vmaf: [1], psnr: [null], ssim: [1] },
};
const TARGET = {
  vmaf: 93,
  size: "1280x720",
  rate_factor: 23,
  ended: "met",
  samples: { number: 1, seconds: 1, mean: 1, harmonic_mean: 1, percentile_1: 1, kbps: 1, frames: 1 },
  tried: [],
};
const MADE = {
  status: "made",
  output: 0,
  files: [{ output: 0, file: 1, sizeBytes: 1, etags: ['"e"'] }],
  probe: PROBE,
  packages: { hls: PROBE },
  encoder: "libx264, libx265",
  note: "n",
  quality: { renditions: [MEASURED], error: "f" },
  targets: [TARGET],
};
const FAILED = { status: "failed", output: 1, failure: { code: "encoding_failed", message: "m" } };
const VIDEO = { frames: 1, bytes: 1, startUs: 0, endUs: 1, longestGopMs: 1, splitPoints: [] };
const origin = { from: "origin", sizeBytes: 1, validator: '"v"' };
const scratch = { from: "scratch", pieces: [{ name: "inspect-1/1", sizeBytes: 1 }] };
const boundaries = { framesPlanned: 1, framesJoined: 1, largestErrorUs: 0, videoOverAudioMs: null };
const hardware = { name: "vaapi", path: "/dev/dri/renderD128", encoders: ["h264_vaapi"] };
const capabilities = { ffmpegVersion: "n7.0", encoders: ["aac"], cpus: 1, filters: ["fps"], muxers: ["mp4"], hardware };

const complete = (result: unknown) => ({ schema: CompleteReport, value: { token: "t", result } });
const frame = (value: unknown) => ({
  schema: { safeParse: (sent: unknown) => toResult(decodeNodeFrame(JSON.stringify(sent))) },
  value,
});
const toResult = (decoded: ReturnType<typeof decodeNodeFrame>) =>
  decoded.ok ? { success: true, data: decoded.value } : { success: false };

const REPORTS = [
  complete({ kind: "inspect", probe: PROBE, chunking: { ok: true, source: origin, ...VIDEO } }),
  complete({ kind: "inspect", probe: PROBE, chunking: { ok: true, source: scratch, ...VIDEO } }),
  complete({ kind: "inspect", probe: PROBE, chunking: { ok: false, reason: "w" } }),
  complete({ kind: "encode", outputs: [MADE, FAILED] }),
  complete({
    kind: "chunk",
    tracks: [SCRATCH],
    encoder: "libx264 7.0",
    encodeMs: 1,
    targets: [{ output: 0, target: TARGET }],
  }),
  complete({ kind: "audio", tracks: [SCRATCH] }),
  complete({ kind: "join", outputs: [MADE], boundaries }),
  { schema: FailReport, value: { token: "t", failure: FAILED.failure } },
  { schema: UploadsRequest, value: { token: "t", files: [{ output: 0, file: "hls/a/1.ts", sizeBytes: 1 }] } },
  { schema: ChunksRequest, value: { token: "t", from: 0 } },
  { schema: ScratchRequest, value: { token: "t", puts: [{ name: "a-1/b", sizeBytes: 1 }], gets: ["a-1/b"] } },
  frame({
    type: "hello",
    protocol: PROTOCOL_VERSION,
    nodeId: "n",
    session: "s",
    capabilities,
    slots: { inspect: 1, encode: 1 },
    running: [{ lease: LEASE, token: "t", slotClass: "encode" }],
  }),
  frame({ type: "progress", items: [{ lease: LEASE, token: "t", stage: "encoding", fraction: 0 }] }),
];

/**
 * Fields that are compared, or shown to clients as text. `file` must name a file of the output
 * (worker/job/uploads/job-files.ts).
 */
const FREE = /\.(?:token|message|title|filename|file)$/;

/** Yields copies of the report, each with `text` at a different text field. */
function* withText(value: unknown, text: string, path = ""): Generator<{ path: string; value: unknown }> {
  if (typeof value === "string") yield { path, value: text };
  if (typeof value !== "object" || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    for (const changed of withText(member, text, `${path}.${name}`)) {
      const copy: unknown = Array.isArray(value)
        ? value.with(Number(name), changed.value)
        : { ...value, [name]: changed.value };
      yield { path: changed.path, value: copy };
    }
  }
}

test("the message of a failure is reported, without characters that deceive a reader", () => {
  const failure = { code: "encoding_failed", message: "a\tb\n\u001b[2Jc\u0000d\u2028e\ud800é" };
  expect(FailReport.parse({ token: "t", failure }).failure.message).toBe("a\tb\n\ufffd[2Jc\ufffdd\ufffde\ufffdé");
});

test("every text field of a report is restricted, or is never used in a command", () => {
  for (const { schema, value } of REPORTS) {
    expect(schema.safeParse(value), JSON.stringify(value)).toMatchObject({ success: true });
    const survivors = [...withText(value, "x,nullsink;movie='/etc/passwd'\n\u0000")].flatMap(
      ({ path, value: changed }) => {
        const parsed = schema.safeParse(changed);
        return parsed.success && JSON.stringify(parsed.data).includes("nullsink") ? [path] : [];
      },
    );
    expect(survivors.filter((path) => !FREE.test(path))).toEqual([]);
  }
});
