import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { describe, expect, inject, it, vi } from "vitest";
import type { LeaseId } from "#shared/ids.ts";
import { streamFolder } from "#shared/job/stream-files.ts";
import type { OutputReport } from "#shared/protocol/reports.ts";
import type { Assignment } from "#shared/protocol/tasks.ts";
import type { UploadsAnswer } from "#shared/protocol/uploads.ts";
import { jobOf } from "../rpc/job.ts";
import type { JobSpec } from "../rpc/job-spec.ts";
import { publicUrlOf } from "../storage/open-store.ts";
import { newAccount, newSpec, PROBE } from "../testing/jobs.ts";
import { loadState } from "../testing/stored-state.ts";
import { claimOne, sendProgress } from "../testing/turns.ts";
import type { JobState } from "./state/job-state.ts";

const KEY = "00112233445566778899aabbccddeeff";
const STREAM = { path: "stream", hls: { path: "hls" }, dash: { path: "dash", hlsfmp4: true }, thumbnails: true };
const EAGER = { type: "http", url: "http://127.0.0.1:9/", events: true, metadata: true };

const stubOf = (spec: JobSpec) => jobOf(env, spec.id);
const dump = (spec: JobSpec): Promise<string> =>
  runInDurableObject(stubOf(spec), (_, { storage }) => JSON.stringify([...storage.kv.list()]));

/** A job whose stream a node has taken. */
async function encoding(stream: object = STREAM, changes: object = {}, accountId = "account") {
  const outputs = { httpstream: stream, "mp4:240p": { path: "a.mp4" } };
  const spec = { ...(await newSpec({ outputs, ...changes })), accountId };
  await stubOf(spec).create(spec);
  const inspect = await claimOne(stubOf(spec), "inspect");
  const probed = { token: inspect.token, result: { kind: "inspect" as const, probe: PROBE } };
  await stubOf(spec).complete(inspect.lease as LeaseId, probed);
  return { spec, ...(await claimed(spec)) };
}

async function claimed(spec: JobSpec, nodeId = "node-a") {
  const assignment = await claimOne(stubOf(spec), "encode", nodeId);
  const { lease, token, task } = assignment;
  const ask = (files: { file: string | number; sizeBytes: number; output?: number; growing?: boolean }[]) =>
    stubOf(spec).uploads(lease, { token, files: files.map((file) => ({ output: 0, ...file })) });
  return { lease, token, task, ask, folder: streamFolder(lease, 1) };
}

const ticketsOf = (answer: { ok: boolean; value?: unknown }) => {
  const value = answer.value as UploadsAnswer | undefined;
  if (!value || !("uploads" in value)) throw new Error(JSON.stringify(answer));
  return value.uploads;
};

const ENTRIES = ["hls/master.m3u8", "dash/master.mpd", "dash/master.m3u8"];
const sent = (file: string | number, output = 0) => ({ output, file, sizeBytes: 700, etags: ['"e"'] });
const packageOf = (name: string) => ({
  streams: PROBE.streams,
  format: { filename: "", nb_streams: 2, format_name: name, duration: "10.000000" },
});
const madeReport: OutputReport = {
  status: "made",
  output: 0,
  probe: null,
  encoder: "libx264",
  files: ENTRIES.map((file) => sent(file)),
  packages: { hls: packageOf("hls"), dash: packageOf("dash") },
};
const video: OutputReport = { status: "made", output: 1, files: [sent(1, 1)], probe: PROBE };

/** Ends the task with these reports, after the uploads of the files with fixed names were signed. */
async function ended(job: Awaited<ReturnType<typeof encoding>>, outputs: OutputReport[] = [madeReport, video]) {
  await job.ask([...ENTRIES.map((file) => ({ file, sizeBytes: 700 })), { output: 1, file: 1, sizeBytes: 700 }]);
  const result = { kind: "encode", outputs } as never;
  expect(await stubOf(job.spec).complete(job.lease, { token: job.token, result })).toMatchObject({ ok: true });
}

const viewOf = async (spec: JobSpec) => {
  const viewed = await stubOf(spec).view();
  if (!viewed.ok) throw new Error(viewed.error.message);
  return viewed.value;
};
const metadataOf = async (spec: JobSpec) => {
  const known = await stubOf(spec).metadata(null);
  return JSON.parse(known.ok ? known.value : "null").metadata;
};

describe("uploads of a stream", () => {
  it("signs a single request of any size for each file, with Content-Type and Cache-Control", async () => {
    const { ask, folder } = await encoding();
    const rows: [string, string, string, string][] = [
      ["hls/master.m3u8", "stream/hls/master.m3u8", "application/vnd.apple.mpegurl", "public, max-age=60"],
      ["dash/master.mpd", "stream/dash/master.mpd", "application/dash+xml", "public, max-age=60"],
      ["hls/master.vtt", "stream/hls/master.vtt", "text/vtt", "public, max-age=60"],
      ...[
        ["1080p.m3u8", "application/vnd.apple.mpegurl"],
        ["audio-128k/00001.ts", "video/mp2t"],
        ["1080p/00001.m4s", "video/iso.segment"],
        ["1080p/init.mp4", "video/mp4"],
        ["subtitles-1/00001.vtt", "text/vtt"],
        ["thumbnails/00001.jpg", "image/jpeg"],
      ].map(([name = "", type = ""]): [string, string, string, string] => {
        const immutable = "public, max-age=31536000, immutable";
        return [`dash/${folder}/${name}`, `stream/dash/${folder}/${name}`, type, immutable];
      }),
    ];
    const tickets = ticketsOf(await ask(rows.map(([file]) => ({ file, sizeBytes: 10 ** 9 }))));
    const seen = tickets.map(({ file, parts }) => {
      const [part] = parts;
      const { pathname } = new URL(part?.url ?? "");
      const headers = ["content-type", "cache-control"].map((name) => part?.headers[name]);
      return [parts.length, part?.sizeBytes, file, pathname, ...headers];
    });
    expect(seen).toEqual(rows.map(([file, object, ...rest]) => [1, 10 ** 9, file, `/bucket/${object}`, ...rest]));
  });

  it("keeps the Cache-Control header that the client set for its storage", async () => {
    const credentials = { access_key_id: "a", secret_access_key: "b" };
    const bucket = { service: "s3", bucket: "videos", region: "eu-west-1", credentials };
    const privateBucket = { ...bucket, cache_control: "private" };
    const { ask, folder } = await encoding(STREAM, { storage: privateBucket });
    const [part] = ticketsOf(await ask([{ file: `hls/${folder}/a.ts`, sizeBytes: 3 }]))[0]?.parts ?? [];
    expect(part?.headers["cache-control"]).toBe("private");
    const dated = await encoding(STREAM, { storage: { ...bucket, expires: "2030-01-01" } });
    const [other] = ticketsOf(await dated.ask([{ file: "hls/master.m3u8", sizeBytes: 3 }]))[0]?.parts ?? [];
    expect(other?.headers["cache-control"]).toBeUndefined();
    expect(other?.headers.expires).toMatch(/2030/);
  });

  const azure = inject("azure");
  const s3 = inject("s3");
  const storages: [string, object][] = [
    ["the service's own storage", { service: "coconut" }],
    [
      "Azure",
      {
        service: "azure",
        endpoint: azure.endpoint,
        container: azure.container,
        credentials: { account: azure.account, api_key: azure.key },
      },
    ],
    [
      "S3",
      {
        service: "s3other",
        endpoint: s3.endpoint,
        bucket: "copra",
        force_path_style: true,
        credentials: { access_key_id: s3.accessKeyId, secret_access_key: s3.secretAccessKey },
      },
    ],
  ];
  const fetchAny = (url: string, init?: RequestInit) =>
    url.startsWith("https://copra.test") ? exports.default.fetch(new Request(url, init)) : fetch(url, init);
  it.each(storages)("stores the files of a stream in %s", async (_, storage) => {
    const job = await encoding(STREAM, { storage });
    const rows: [string, string, string][] = [
      [`dash/${job.folder}/720p/00001.m4s`, "video/iso.segment", "public, max-age=31536000, immutable"],
      ["dash/master.m3u8", "application/vnd.apple.mpegurl", "public, max-age=60"],
    ];
    const tickets = ticketsOf(await job.ask(rows.map(([file]) => ({ file, sizeBytes: 5 }))));
    for (const [at, [file, ...headers]] of rows.entries()) {
      const [part] = tickets[at]?.parts ?? [];
      const put = await fetchAny(part?.url ?? "", { method: "PUT", headers: part?.headers ?? {}, body: "abcde" });
      expect(put.ok).toBe(true);
      const got = await fetchAny(publicUrlOf(job.spec, file.replace(/^dash/, "stream/dash")));
      expect(["content-type", "cache-control"].map((name) => got.headers.get(name))).toEqual(headers);
      expect(new TextDecoder().decode(await got.arrayBuffer())).toBe("abcde");
    }
  });

  it("signs forms if the storage is an upload URL", async () => {
    const job = await encoding(STREAM, { storage: { url: "https://u:p@up.example.com/in?id=7" } });
    const [ticket] = ticketsOf(await job.ask([{ file: `hls/${job.folder}/720p/00001.ts`, sizeBytes: 5 }]));
    expect(ticket?.parts).toEqual([
      {
        url: `https://up.example.com/in/stream/hls/${job.folder}/720p/00001.ts?id=7`,
        headers: { authorization: `Basic ${btoa("u:p")}` },
        offset: 0,
        sizeBytes: 5,
        form: {
          name: "encoded_video",
          fileName: "00001.ts",
          contentType: "video/mp2t",
          fields: [
            { name: "job_id", value: job.spec.id },
            { name: "output_key", value: "httpstream" },
            { name: "output_type", value: "httpstream" },
          ],
        },
      },
    ]);
  });

  it("leaves nothing in the job's state for thousands of files", async () => {
    const { spec, ask, folder } = await encoding();
    await ask([{ file: `hls/${folder}/1080p/00000.ts`, sizeBytes: 1 }]);
    const before = await dump(spec);
    const names = Array.from({ length: 5_000 }, (_, at) => `dash/${folder}/1080p/${at}.m4s`);
    for (let at = 0; at < names.length; at += 200) {
      const batch = names.slice(at, at + 200).map((file) => ({ file, sizeBytes: 20 * 2 ** 20 }));
      expect(ticketsOf(await ask(batch))).toHaveLength(200);
    }
    const after = await dump(spec);
    expect(after).not.toContain(".m4s");
    // A lease that would soon run out is renewed on disk. The same write includes changes that were only in memory.
    expect(Math.abs(after.length - before.length)).toBeLessThan(500);
  });

  it("rejects names of other leases, and all names after another node got the task", async () => {
    const { spec, ask, lease, token, folder } = await encoding();
    const refused = { ok: false, error: { code: "report_not_valid" } };
    for (const file of [1, "1", `hls/${folder}/../x.ts`, `hls/${folder}%2Fx.ts`, "hls/other.m3u8", "a.mp4"]) {
      expect(await ask([{ file, sizeBytes: 1 }]), String(file)).toMatchObject(refused);
    }
    expect(await ask([{ output: 1, file: `hls/${folder}/x.ts`, sizeBytes: 1 }])).toMatchObject(refused);
    expect(await ask([{ file: `hls/${folder}/x.ts`, sizeBytes: 1 }])).toMatchObject({ ok: true });
    await stubOf(spec).fail(lease, { token, failure: { code: "node_lost", message: "Draining" } });
    const next = await claimed(spec, "node-b");
    expect(await ask([{ file: `hls/${folder}/x.ts`, sizeBytes: 1 }])).toMatchObject({
      error: { code: "lease_superseded" },
    });
    expect(next.folder).not.toBe(folder);
    expect(await next.ask([{ file: `hls/${folder}/x.ts`, sizeBytes: 1 }])).toMatchObject(refused);
    expect(await next.ask([{ file: `hls/${next.folder}/x.ts`, sizeBytes: 1 }])).toMatchObject({ ok: true });
  });
});

describe("a stream with growing playlists", () => {
  const LIVE = { ...STREAM, live_playlist: true };

  it("can be played from its first playlists on, until it is complete or its attempt is over", async () => {
    const job = await encoding(LIVE);
    const { spec, lease, token } = job;
    const live = async () => (await viewOf(spec)).outputs[0]?.live;
    const report = (seconds?: number) =>
      sendProgress(stubOf(spec), [
        { lease, token, stage: "encoding", fraction: 0.5, ...(seconds ? { live: [{ output: 0, seconds }] } : {}) },
      ]);
    await report();
    expect(await live()).toBeUndefined();
    await report(18);
    const at = "http://127.0.0.1:9/bucket/stream";
    expect(await live()).toEqual({ hls: `${at}/hls/master.m3u8`, dash: `${at}/dash/master.mpd`, seconds: 18 });
    await report(24);
    expect(await live()).toMatchObject({ seconds: 24 });
    await stubOf(spec).fail(lease, { token, failure: { code: "node_lost", message: "Draining" } });
    expect(await live()).toBeUndefined();
    const next = await claimed(spec, "node-b");
    expect(await live()).toBeUndefined();
    await sendProgress(stubOf(spec), [
      { lease: next.lease, token: next.token, stage: "encoding", fraction: 0, live: [{ output: 0, seconds: 6 }] },
    ]);
    expect(await live()).toMatchObject({ seconds: 6 });
    await ended({ ...job, ...next });
    expect((await viewOf(spec)).outputs[0]).not.toHaveProperty("live");
  });

  it("stores each version uncached and unrecorded, and complete playlists like other files", async () => {
    const signed = async (stream: object) => {
      const { spec, ask, folder } = await encoding(stream);
      const lists = [`hls/${folder}/720p.m3u8`, "dash/master.mpd"];
      const cachings = async (growing: boolean, sizeBytes: number) => {
        const files = lists.map((file) => ({ file, sizeBytes, ...(growing ? { growing } : {}) }));
        return ticketsOf(await ask(files)).map(({ parts }) => parts[0]?.headers["cache-control"]);
      };
      const growing = [await cachings(true, 100), await cachings(true, 200)];
      const recorded = await runInDurableObject(stubOf(spec), (_, { storage }) =>
        Object.keys(loadState(storage)?.tasks.at(-1)?.uploads ?? {}),
      );
      return { growing, recorded, complete: await cachings(false, 300) };
    };
    const complete = ["public, max-age=31536000, immutable", "public, max-age=60"];
    const uncached = ["no-cache", "no-cache"];
    expect(await signed(LIVE)).toEqual({ growing: [uncached, uncached], recorded: [], complete });
    // A node cannot choose this for other streams.
    expect((await signed(STREAM)).growing).toEqual([complete, complete]);
  });
});

describe("a stream", () => {
  it("is encoded, packaged, and shown with its URLs", async () => {
    const job = await encoding(STREAM, { notification: EAGER });
    const { spec, lease, token } = job;
    const statuses = async () => (await viewOf(spec)).outputs.map(({ status }) => status);
    expect(await statuses()).toEqual(["httpstream.queued", "video.queued"]);
    await sendProgress(stubOf(spec), [{ lease, token, stage: "encoding", fraction: 0.5 }]);
    expect(await statuses()).toEqual(["httpstream.variants.encoding", "video.encoding"]);
    await sendProgress(stubOf(spec), [{ lease, token, stage: "uploading", fraction: 0.5 }]);
    await evictDurableObject(stubOf(spec));
    expect(await statuses()).toEqual(["httpstream.packaging", "video.encoding"]);
    await ended(job);
    const at = "http://127.0.0.1:9/bucket/stream";
    const { outputs, status } = await viewOf(spec);
    expect([status, outputs[0]]).toEqual([
      "job.completed",
      {
        key: "httpstream",
        type: "httpstream",
        format: "httpstream",
        status: "httpstream.packaged",
        urls: [
          { format: "hls", url: `${at}/hls/master.m3u8`, segments: "mpegts" },
          { format: "dash", url: `${at}/dash/master.mpd`, segments: "fmp4" },
          { format: "hls", url: `${at}/dash/master.m3u8`, segments: "fmp4" },
        ],
        encoder: "libx264",
      },
    ]);
    const filename = (name: string) => ({ format: expect.objectContaining({ filename: `${at}/${name}` }) });
    const metadata = { hls: filename("hls/master.m3u8"), dash: filename("dash/master.mpd") };
    expect((await metadataOf(spec)).outputs[0]).toMatchObject({ httpstream: metadata });
    await evictDurableObject(stubOf(spec));
    const { outbox } = await runInDurableObject(stubOf(spec), (_, { storage }) => loadState(storage) as JobState);
    const bodies = outbox.map(({ event, body }) => [event, JSON.parse(body)] as const);
    const completed = bodies.find(
      ([event, { data }]) => event === "output.completed" && data.type === "httpstream",
    )?.[1];
    expect(completed).toMatchObject({ metadata: true, data: { urls: outputs[0]?.urls, metadata } });
    const last = bodies.at(-1)?.[1];
    expect(last.data.outputs[0].metadata).toEqual(completed.data.metadata);
  });

  it.each<[string, OutputReport]>([
    ["a playlist is missing", { ...madeReport, files: madeReport.status === "made" ? madeReport.files.slice(1) : [] }],
    ["one has another size", { ...madeReport, files: ENTRIES.map((file) => ({ ...sent(file), sizeBytes: 701 })) }],
    ["segments alone are named", { ...madeReport, files: [sent("hls/x/1080p/00001.ts")] }],
  ])("does not count as stored if %s", async (_, report) => {
    const job = await encoding();
    await ended(job, [report, video]);
    const [stream] = (await viewOf(job.spec)).outputs;
    expect([stream?.status, stream?.urls]).toEqual(["httpstream.queued", undefined]);
  });

  it("keeps the probes of twenty renditions in two packages", async () => {
    const job = await encoding();
    const tracks = Array.from({ length: 40 }, (_, index) => ({ ...PROBE.streams[0], index, filler: "x".repeat(1200) }));
    const large = { streams: tracks, format: packageOf("hls").format };
    await ended(job, [{ ...madeReport, packages: { hls: large, dash: large } } as OutputReport, video]);
    const { httpstream } = (await metadataOf(job.spec)).outputs[0];
    expect([httpstream.hls.streams.length, httpstream.dash.streams.length]).toEqual([40, 40]);
  });
});

describe("the keys of encrypted streams", () => {
  const encrypted = (key?: string) => ({
    ...STREAM,
    encryption: { ...(key ? { key } : {}), key_uri: "https://keys.example.com/7" },
  });
  const keyOf = ({ task }: Pick<Assignment, "task">): string => {
    const [output] = task.kind === "encode" ? task.outputs : [];
    return (output?.type === "httpstream" && output.encryption?.key) || "";
  };

  it.each([
    ["given", KEY],
    ["made", undefined],
  ])(
    "stores a key that was %s sealed, sends it to the node, and shows it only if the service generated it",
    async (_, given) => {
      const account = await newAccount();
      const job = await encoding(encrypted(given), { notification: EAGER }, account.id);
      const { spec } = job;
      const key = keyOf(job);
      expect(key).toMatch(given ?? /^[0-9a-f]{32}$/);
      await ended(job);
      expect(await dump(spec)).not.toMatch(new RegExp(key, "i"));
      const { httpstream } = (await metadataOf(spec)).outputs[0];
      const { hls, dash, streams, format } = httpstream;
      // As of a file: a client that knows only the contract reads these.
      expect([streams, format]).toEqual([hls.streams, hls.format]);
      const encryption = { method: "AES-128", key, key_uri: "https://keys.example.com/7" };
      expect(hls.encryption).toEqual(given ? undefined : encryption);
      expect(dash.encryption).toBeUndefined();
      expect(JSON.stringify(await viewOf(spec))).not.toContain(key);
      await vi.waitFor(async () => {
        const { body } = await account.get(`/v2/metadata/jobs/${spec.id}/httpstream`);
        expect(body).toEqual({ job_id: spec.id, metadata: { httpstream } });
      });
    },
  );

  it("keeps a generated key over all attempts, and generates another key for each stream", async () => {
    const first = await encoding(encrypted());
    const failure = { code: "node_lost", message: "Draining" } as const;
    await stubOf(first.spec).fail(first.lease, { token: first.token, failure });
    expect(keyOf(await claimed(first.spec, "node-b"))).toBe(keyOf(first));
    expect(keyOf(await encoding(encrypted()))).not.toBe(keyOf(first));
  });
});
