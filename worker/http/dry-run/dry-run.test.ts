import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { DryRunPlan } from "#shared/api/job-responses.ts";
import { basic, jobBody, NOWHERE, newAccount, SECRET_KEY, send } from "../../testing/jobs.ts";

let authorization: Record<string, string>;
beforeAll(async () => {
  authorization = basic((await newAccount()).key);
});

const dryRun = (query: string, changes: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
  send(`/v2/jobs?dry_run=true${query}`, {
    method: "POST",
    body: jobBody({ storage: NOWHERE, ...changes }),
    headers: { ...authorization, ...headers },
  });
/** Frames of 240 lines with the aspect ratios 16:9 and 9:16. */
const [WIDE, TALL] = [/pad=42\d:240/, /pad=13\d:240/];
const count = async (table: string) =>
  (await env.DB.prepare(`SELECT count(*) AS n FROM ${table}`).first<{ n: number }>())?.n;

describe("POST /v2/jobs?dry_run=true", () => {
  it("returns the plan without starting, storing or claiming anything", async () => {
    const before = [await count("jobs"), await count("idempotency_keys")];
    const { status, headers, body } = await dryRun("", {}, { "idempotency-key": "dry-1" });
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(body).toMatchObject({
      dry_run: true,
      assumed_source: { width: 1920, height: 1080, fps: 30, duration: 60, rotation: 0, audio: true },
      input: { url: "https://media.example.com/video.mp4" },
      storage: { kind: "s3", bucket: "bucket", region: "us-east-1", endpoint: "http://127.0.0.1:9" },
      outputs: [
        {
          key: "mp4:240p",
          type: "video",
          format: expect.stringMatching(/^mp4:0x240::maxrate=750k/),
          path: "out/240p.mp4",
          url: "http://127.0.0.1:9/bucket/out/240p.mp4",
          spec: {
            container: "mp4",
            video: {
              codec: "h264",
              size: { width: null, height: 240 },
              rate: { bitrate_kbps: null, maxrate_kbps: 750 },
            },
            audio: { codec: "aac", bitrate_kbps: 128, sample_rate_hz: null },
            duration_ms: null,
          },
        },
        {
          key: "jpg:320x",
          type: "image",
          format: expect.stringMatching(/^jpg:320x/),
          path: "out/%02d.jpg",
          urls: ["http://127.0.0.1:9/bucket/out/01.jpg", "http://127.0.0.1:9/bucket/out/02.jpg"],
          spec: { container: "jpg", size: { width: 320, height: null }, square: false },
        },
      ],
      refusals: [],
    });
    expect(body.commands.flatMap(({ outputs }: { outputs: string[] }) => outputs)).toEqual(["mp4:240p", "jpg:320x"]);
    const argv: string[] = body.commands[0].argv;
    expect(argv).toContain("file:/source");
    expect(argv.join(" ")).toMatch(WIDE);
    expect([await count("jobs"), await count("idempotency_keys")]).toEqual(before);
  });

  it("plans for the source that the query describes", async () => {
    const portrait = await dryRun("&width=1080&height=1920&fps=25&duration=7.5");
    expect(portrait.body.assumed_source).toMatchObject({ width: 1080, height: 1920, fps: 25, duration: 7.5 });
    expect(portrait.body.commands[0].argv.join(" ")).toMatch(TALL);
    const turned = await dryRun("&rotation=90&audio=false");
    expect(turned.body.commands[0].argv.join(" ")).toMatch(TALL);
    expect(turned.body.commands[0].argv).not.toContain("aac");
  });

  it("reports the outputs that would be skipped, and the outputs that are not possible", async () => {
    const outputs = {
      "mp4:240p": [
        { key: "small", path: "a.mp4", if: "{{ input.width }} < 1000" },
        { key: "large", path: "b.mp4", if: "{{ input.width }} >= 1000 AND {{ input.duration }} = 60" },
      ],
      "mp4:x:64k": { key: "audio", path: "c.mp4" },
    };
    const { body } = await dryRun("&audio=false", { outputs });
    const views: { key: string; condition?: string; skipped?: boolean }[] = body.outputs;
    expect(views.map(({ key, skipped, condition }) => [key, skipped, condition])).toEqual([
      ["small", true, "{{ input.width }} < 1000"],
      ["large", undefined, "{{ input.width }} >= 1000 AND {{ input.duration }} = 60"],
      ["audio", undefined, undefined],
    ]);
    expect(DryRunPlan.strict().parse(body)).toEqual(body);
    expect(body.commands.map(({ outputs }: { outputs: string[] }) => outputs)).toEqual([["large"]]);
    expect(body.refusals).toEqual([
      { key: "audio", error: expect.stringMatching(/audio/), error_code: "input_has_no_audio" },
    ]);
    const nothing = await dryRun("", { outputs: { "mp4:240p": { path: "a", if: "false" } } });
    expect(nothing.body).toMatchObject({ commands: [], refusals: [], outputs: [{ skipped: true }] });
  });

  it("shows audio tracks without the secrets of their URLs, and refuses tracks that the source lacks", async () => {
    const audio = [{ from: 1 }, { url: "https://me:secret@media.example.com/fr.wav?sig=secret", language: "fr" }];
    const outputs = { mkv: { path: "a.mkv", audio }, mp4: { path: "b.mp4", audio: [{ from: "fr" }] } };
    const { body } = await dryRun("", { outputs });
    expect(JSON.stringify(body)).not.toContain("secret");
    expect(body.outputs[0].spec.audio_tracks[1]).toMatchObject({
      url: "https://media.example.com/fr.wav",
      language: "fr",
    });
    expect(body.commands[0].argv.join(" ")).toContain("-map 0:1 -map 1:0");
    expect(body.refusals).toMatchObject([{ key: "mp4", error_code: "input_track_not_found" }]);
  });

  it("finds the audio tracks of an assumed source by their languages", async () => {
    const outputs = { "mp4:x90": { path: "a.mp4", audio: [{ from: "en" }, { from: "de" }] } };
    expect((await dryRun("", { outputs })).body.refusals).toHaveLength(1);
    const tracks = [
      { type: "audio", language: "eng" },
      { type: "audio", language: "ger" },
    ];
    const { body } = await dryRun(`&tracks=${encodeURIComponent(JSON.stringify(tracks))}`, { outputs });
    expect(body).toMatchObject({ refusals: [], assumed_source: { audio: true, tracks } });
    expect(body.commands[0].argv.join(" ")).toContain("-map 0:1 -map 0:2");
  });

  it("shows which of several outputs with the same path is created", async () => {
    const at = (width: number) => ({ path: "video.mp4", if: `{{ input.width }} >= ${width}` });
    const { body } = await dryRun("", { outputs: { "mp4:240p": at(100), "mp4:480p": at(200), "mp4:720p": at(9000) } });
    expect(body.commands.map(({ outputs }: { outputs: string[] }) => outputs)).toEqual([["mp4:240p"]]);
    expect(body.outputs.map(({ skipped }: { skipped?: boolean }) => skipped)).toEqual([undefined, undefined, true]);
    expect(body.refusals).toEqual([
      {
        key: "mp4:480p",
        error: expect.stringMatching(
          /^The output would write `video.mp4`, as the output `mp4:240p` does: the conditions of both/,
        ),
        error_code: "output_path_not_unique",
      },
    ]);
  });

  it("shows a stream with its renditions and their packages", async () => {
    const stream = {
      path: "video",
      hls: { path: "hls" },
      dash: { path: "dash", hlsfmp4: true },
      variants: ["mp4:x:64k", "mp4:240p", "mp4:hevc_720p"],
      encryption: { key_uri: "https://keys.example.com/7" },
    };
    const { body } = await dryRun("", { outputs: { httpstream: stream } });
    expect(DryRunPlan.strict().parse(body)).toEqual(body);
    const at = "http://127.0.0.1:9/bucket/video";
    const [output] = body.outputs;
    expect(output).toMatchObject({
      key: "httpstream",
      type: "httpstream",
      format: "httpstream",
      urls: [
        { format: "hls", url: `${at}/hls/master.m3u8` },
        { format: "dash", url: `${at}/dash/master.mpd` },
        { format: "hls", url: `${at}/dash/master.m3u8` },
      ],
      renditions: [
        { width: 426, height: 240, fps: 30, packages: ["hls", "dash"] },
        { width: 1280, height: 720, fps: 30, packages: ["dash"] },
        { video: null, packages: ["hls", "dash"] },
      ],
    });
    expect(output.spec.encryption).toEqual({ key_uri: "https://keys.example.com/7" });
    expect(body.commands).toHaveLength(1);
    const { outputs, argv } = body.commands[0];
    expect([outputs, argv.join(" ")]).toEqual([["httpstream"], expect.stringMatching(WIDE)]);
    for (const { video, audio } of output.renditions) {
      for (const track of [video, audio].filter((name) => name !== null)) expect(argv.join(" ")).toContain(track);
    }
  });

  it.each<[string, object, string, number?]>([
    ["mp4:720p_2000k", {}, "bitrate", 2128 * 60],
    ["mp4::x", {}, "quality", 3350 * 60],
    ["mp4::x:2pass", {}, "bitrate", 3350 * 60],
    ["mp4::x:quality=5,maxrate=1000k", {}, "maxrate", 1000 * 60],
    ["mp4::x:quality=2", {}, "quality", 1842.5 * 60],
    ["mp4:x:96k", { offset: 50, duration: 30 }, "bitrate", 96 * 10],
    ["m4a:128k", { audio: [{ from: 1 }, { from: 1 }] }, "bitrate", 256 * 60],
    ["mp4:x90_1000k", { audio: [{ from: 3 }] }, "refused"],
    ["mp4:copy", {}, "unknown"],
    ["wav", {}, "unknown"],
    ["jpg:320x", {}, "unknown"],
  ])("expects the size of %s with %j by its %s", async (format, params, basis, kbits) => {
    const { body } = await dryRun("", { outputs: { [format]: { path: "a", ...params } } });
    expect(body.refusals).toHaveLength(basis === "refused" ? 1 : 0);
    expect(body.outputs[0].expected_size).toEqual(kbits && { bytes: kbits * 125, basis });
  });

  it("expects the size of each rendition in each package, and counts shared tracks once in the stream", async () => {
    const variants = [
      "mp4:x:64k",
      "mp4:x432_730k:96k",
      "mp4:x432_1100k:96k",
      "mp4:hevc_240p_300k:96k",
      "mp4:x432_1100k:96k",
    ];
    const { body } = await dryRun("", {
      outputs: { httpstream: { hls: { path: "h" }, dash: { path: "d" }, variants } },
    });
    const [output] = body.outputs;
    const renditions: { variant: number; expected_size: unknown }[] = output.renditions;
    const size = (kbps: number) => ({ bytes: kbps * 125 * 60, basis: "bitrate" });
    expect(renditions.map(({ variant, expected_size }) => [variant, expected_size])).toEqual([
      [1, size(2 * 826)],
      [2, size(2 * 1196)],
      [3, size(300 + 2 * 96)],
      [0, size(2 * 64)],
    ]);
    expect(output.expected_size).toEqual(size(2 * (730 + 1100 + 96 + 64) + 300));
  });

  it("shows no secrets in the plan", async () => {
    const { status, body } = await dryRun("", {
      input: { url: "https://user:hunter2@media.example.com/video.mp4?signature=hunter2" },
      outputs: {
        "mp4:240p": {
          path: "a.mp4",
          watermark: { url: "https://u:hunter2@example.com/w.png?t=hunter2", position: "topleft" },
        },
        httpstream: {
          hls: { path: "hls" },
          encryption: {
            key: "0123456789abcdef0123456789abcdef",
            key_uri: "https://u:hunter2@example.com/key?t=hunter2",
          },
        },
      },
      notification: { type: "http", url: "https://user:hunter2@example.com/hook" },
    });
    expect(status).toBe(200);
    const text = JSON.stringify(body);
    expect(text).toContain("https://media.example.com/video.mp4");
    expect(text).toContain("https://example.com/w.png");
    expect(text).toContain("https://example.com/key");
    expect(text).toContain("http://127.0.0.1:9/bucket/hls/master.m3u8");
    for (const secret of ["hunter2", SECRET_KEY, "AKID", "0123456789abcdef"]) expect(text).not.toContain(secret);
  });

  it.each([
    ["a wrong body", "", { outputs: {} }, 400, "outputs_not_valid"],
    ["wrong credentials", "", { storage: { service: "s3" } }, 400, "storage_credentials_not_valid"],
    ["a wrong source", "&width=none", {}, 400, "query_not_valid"],
    ["a wrong switch", "&dry_run=perhaps", {}, 400, "query_not_valid"],
  ])("rejects %s like the real request", async (_, query, changes, status, code) => {
    const path = query.includes("dry_run") ? `/v2/jobs?${query.slice(1)}` : `/v2/jobs?dry_run=1${query}`;
    const answer = await send(path, { method: "POST", body: jobBody(changes), headers: authorization });
    expect([answer.status, answer.body.error_code]).toEqual([status, code]);
  });

  it("requires an API key, and other queries create a job", async () => {
    expect((await send("/v2/jobs?dry_run=1", { method: "POST", body: jobBody() })).status).toBe(401);
    for (const query of ["?dry_run=false&width=none", "?colour=red"]) {
      expect((await send(`/v2/jobs${query}`, { method: "POST", body: jobBody(), headers: authorization })).status).toBe(
        201,
      );
    }
  });
});
