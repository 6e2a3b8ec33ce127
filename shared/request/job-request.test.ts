import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isErrorCode } from "../errors.ts";
import { arbitraryBody } from "../testing/arbitrary-body.ts";
import { parseJobRequest } from "./job-request.ts";

const BODY = {
  input: { url: "https://media.example.com/video.mp4" },
  storage: {
    service: "s3",
    bucket: "videos",
    region: "eu-west-1",
    credentials: { access_key_id: "a", secret_access_key: "b" },
  },
  outputs: { "mp4:720p": { path: "/720p.mp4" }, "jpg:300x": [{ path: "%02d.jpg", number: 3 }] },
  notification: { type: "http", url: "https://example.com/hook", params: { id: 7, live: true } },
};

describe("parseJobRequest", () => {
  it("fills in defaults and names outputs", () => {
    const parsed = parseJobRequest(BODY, "none");
    expect(parsed).toMatchObject({
      ok: true,
      value: {
        storage: { kind: "s3", endpoint: "https://s3.eu-west-1.amazonaws.com", addressing: "host", path: "" },
        secrets: {
          input: BODY.input,
          storage: { accessKeyId: "a", secretAccessKey: "b" },
          notification: { url: "https://example.com/hook?id=7&live=true" },
        },
        outputs: [
          { index: 0, key: "mp4:720p", type: "video", path: "720p.mp4", durationMs: null },
          { index: 1, key: "jpg:300x:1", type: "image", selection: { by: "number", number: 3 } },
        ],
        notification: { type: "http", url: "https://example.com/hook", events: false, metadata: false },
        settings: { ultrafast: false },
      },
    });
    expect(JSON.stringify(parsed.ok && parsed.value.storage)).not.toContain("secret");
  });

  const CLIP = { ...BODY.input, start: "12.5", end: 3600 };
  const url = "https://example.com/a.vtt";

  it("gives every output the clip, and moves the files at its URLs there", () => {
    const outputs = {
      "mp4:720p": { path: "a.mp4", offset: 1, burn: { url }, audio: [{ url, offset: 0.5 }, { from: 1 }] },
      httpstream: { hls: { path: "h" }, subtitles: [{ url, language: "en", name: "English" }, { from: 1 }] },
      vtt: { path: "a.vtt", from: 1 },
      jpg: { path: "a.jpg" },
    };
    const clip = { startMs: 12_500, endMs: 3_600_000 };
    const [video, stream, text, image] = [
      {
        offsetMs: 13_500,
        durationMs: 3_586_500,
        burn: { shiftMs: 12_500 },
        audioTracks: [{ offsetMs: 13_000 }, { offsetMs: 0 }],
      },
      { subtitles: [{ shiftMs: 12_500 }, { from: 1 }] },
      { text: { from: 1 } },
      {},
    ];
    const parsed = parseJobRequest({ ...BODY, input: CLIP, outputs }, "none");
    expect(parsed).toMatchObject({
      ok: true,
      value: { outputs: [video, stream, text, image].map((output) => ({ ...output, clip })) },
    });
  });

  it.each<[format: string, params: object, text: string]>([
    ["mp4", { offset: 3587.5 }, "`outputs.mp4` has an `offset` that is not before the end of the clip"],
    ["mp4:copy", { audio: [{ url }] }, "`outputs.mp4:copy` is a copy, which starts at a keyframe"],
    ["mkv:copy", { subtitles: "all" }, "`outputs.mkv:copy` is a copy, which starts at a keyframe"],
    ["mp4::copy", { audio: [{ url }] }, "`outputs.mp4::copy` copies audio of a `url`"],
  ])("rejects a clip for %s with %j", (format, params, text) => {
    const parsed = parseJobRequest({ ...BODY, input: CLIP, outputs: { [format]: { path: "a", ...params } } }, "none");
    expect(parsed).toEqual({
      ok: false,
      error: { code: "output_param_not_valid", message: expect.stringContaining(text) },
    });
  });

  it("separates the keys of streams from their outputs", () => {
    const key = "00112233445566778899aabbccddeeff";
    const stream = (path: string, encryption?: object) => ({ path, hls: { path: "h" }, encryption });
    const uri = { key_uri: "https://keys.example.com/1" };
    const outputs = {
      mp4: { path: "a.mp4" },
      httpstream: [stream("a", { key, ...uri }), stream("b"), stream("c", uri)],
    };
    const parsed = parseJobRequest({ ...BODY, outputs }, "none");
    if (!parsed.ok) throw new Error(parsed.error.message);
    const { secrets, ...kept } = parsed.value;
    expect(secrets.streamKeys).toEqual([
      { output: 1, key },
      { output: 3, key: null },
    ]);
    expect(JSON.stringify(kept)).not.toContain(key);
    expect(kept.outputs[1]).toMatchObject({ encryption: { key: null, keyUri: uri.key_uri } });
  });

  const MANY = 1000;
  it.each<[field: string, section: (many: object) => object]>([
    ["settings.require", (many) => ({ settings: { require: many } })],
    ["outputs", (many) => ({ outputs: { mp4: many } })],
    ["outputs.jpg.offsets", (many) => ({ outputs: { jpg: { path: "%d.jpg", offsets: many } } })],
    ["outputs.httpstream.variants", (many) => ({ outputs: { httpstream: { hls: { path: "h" }, variants: many } } })],
    ["outputs.httpstream.subtitles", (many) => ({ outputs: { httpstream: { hls: { path: "h" }, subtitles: many } } })],
    ["notification.params", (many) => ({ notification: { ...BODY.notification, params: many } })],
  ])("rejects too many entries of %s before it parses them", (field, section) => {
    let reads = 0;
    const counted = { enumerable: true, get: () => ({ wrong: reads++ }) };
    const entries = Array.from({ length: MANY }, (_, at) => [`${at}`, counted] as const);
    const isList = field !== "notification.params";
    const many = Object.defineProperties(isList ? [] : {}, Object.fromEntries(entries));
    const body = { ...BODY, ...section(many) };
    const parsed = parseJobRequest(body, "none");
    expect(parsed).toMatchObject({ ok: false, error: { message: expect.stringMatching(/ at most \d+ /) } });
    expect(parsed).toMatchObject({ error: { message: expect.stringContaining(`\`${field}\``) } });
    // A single read per entry is allowed, to find text that is not Unicode.
    expect(reads).toBeLessThanOrEqual(MANY);
  });

  it("ignores properties that are not sections", () => {
    expect(parseJobRequest({ ...BODY, webhook: "https://\ud800", api_version: 2 }, "none").ok).toBe(true);
  });

  const video = (params: object) => ({ outputs: { "mp4:720p": params } });
  const stream = (params: object) => ({ outputs: { httpstream: params } });
  const half = "a\ud800b";
  const jpg = (params: object) => ({ outputs: { jpg: { path: "a", ...params } } });
  it.each<[code: string, field: string, changes: object]>([
    ["input_not_valid", "input.url", { input: { url: `https://example.com/${half}` } }],
    ["input_not_valid", "input.key", { input: { ...BODY.storage, key: half } }],
    ["storage_not_valid", "storage.path", { storage: { ...BODY.storage, path: half } }],
    ["output_param_not_valid", "outputs.mp4:720p.path", video({ path: half })],
    ["output_param_not_valid", "outputs.mp4:720p.1.key", { outputs: { "mp4:720p": [{ path: "a" }, { key: half }] } }],
    ["output_param_not_valid", "outputs.mp4:720p.watermark.url", video({ path: "a", watermark: { url: half } })],
    ["output_param_not_valid", "outputs.jpg.vtt.filename", jpg({ vtt: { filename: half } })],
    ["output_param_not_valid", "outputs.httpstream.hls.path", stream({ hls: { path: half } })],
    ["output_param_not_valid", "outputs.httpstream.playlist_name", stream({ hls: { path: "a" }, playlist_name: half })],
    ["output_param_not_valid", "outputs.a\ufffdb", { outputs: { [half]: { path: "a" } } }],
    ["notification_not_valid", "notification.url", { notification: { type: "http", url: half } }],
    ["notification_not_valid", "notification.params.a\ufffdb", { notification: { params: { [half]: 1 } } }],
    ["settings_not_valid", "settings.deep.0", { settings: { deep: [half] } }],
  ])("rejects half a character with %s at %s", (code, field, changes) => {
    const error = { code, message: `\`${field}\` must be valid Unicode text, without unpaired surrogates` };
    expect(parseJobRequest({ ...BODY, ...changes }, "none")).toEqual({ ok: false, error });
  });

  it.each<[section: unknown, text: string]>([
    [{ ultrafast: "very" }, "`settings.ultrafast` must be true or false"],
    [{ quality_report: "very" }, "`settings.quality_report` must be true or false"],
    [
      { speed: 2 },
      "`settings` has no field `speed`; allowed: ultrafast, quality_report, queue, priority, require, start_at, start_within_s, max_run_s",
    ],
    [["ultrafast"], "`settings` must be an object"],
  ])("rejects the settings %j", (settings, message) => {
    const error = { code: "settings_not_valid", message };
    expect(parseJobRequest({ ...BODY, settings }, "none")).toEqual({ ok: false, error });
  });

  /** Byte counts include the storage's path (500 bytes) and a slash. */
  const names: [outputs: object, storage: object, bytes: number | null][] = [
    [{ mp4: { path: "x".repeat(523) } }, {}, null],
    [{ mp4: { path: "x".repeat(524) } }, {}, 1025],
    [{ mp4: { path: "ü".repeat(262) } }, {}, 1025],
    [{ mp4: { path: "x".repeat(509) } }, { service: "coconut", path: "ü".repeat(250) }, 1010],
    [{ mp4: { path: "x".repeat(900) } }, { url: "https://example.com/" }, null],
    [{ jpg: { path: `${"x".repeat(521)}%d`, number: 100 } }, {}, 1025],
    [{ jpg: { path: `${"x".repeat(521)}%d`, number: 99 } }, {}, null],
    [{ jpg: { path: `${"x".repeat(517)}%d`, interval: 1 } }, {}, 1025],
    [{ jpg: { path: "a.jpg", vtt: { filename: `${"ü".repeat(195)}.vtt` } } }, {}, null],
    [{ httpstream: { path: "x".repeat(230), hls: { path: "y".repeat(172) } } }, {}, 1025],
  ];
  it.each(names)("row %#: limits names in the storage to 1024 bytes", (outputs, storage, bytes) => {
    const isWhole = "service" in storage || "url" in storage;
    const section = isWhole ? storage : { ...BODY.storage, path: "ü".repeat(250) };
    const parsed = parseJobRequest({ ...BODY, outputs, storage: section }, "none");
    const error = {
      code: "output_param_not_valid",
      message: expect.stringMatching(`^The \`path\` of the output \`.*\` is too long: .* up to ${bytes} bytes`),
    };
    expect(parsed).toEqual(bytes === null ? { ok: true, value: expect.anything() } : { ok: false, error });
  });

  it("parses any JSON to a request or an error", () => {
    fc.assert(
      fc.property(arbitraryBody, (body) => {
        const parsed = parseJobRequest(body, "none");
        return parsed.ok || (isErrorCode(parsed.error.code) && parsed.error.message.length > 0);
      }),
      { numRuns: 1500 },
    );
  });
});
