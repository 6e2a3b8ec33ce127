// The check of each row of the contract: on the results of a real run, or in another test.
import { expect } from "vitest";
import { PROSE, type Row } from "./contract-tables.ts";
import type { Evidence } from "./evidence.ts";
import { PARAMETERS } from "./parameters.ts";
import { live, type Proof, testNamed } from "./proof.ts";
import { sentenceProof } from "./sentences.ts";

/** The check of a row; null if there is none. */
export function proofOf(row: Row): Proof | null {
  if (row.heading.startsWith(PROSE)) return sentenceProof(row.name);
  return (PROOFS.get(row.heading) ?? (() => null))(row);
}

// ── values of the contract's types ─────────────────────────────────────────────────────────────────────────────────

const DATE = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}$/;
const TYPES = new Map(
  Object.entries<RegExp>({
    string: /./,
    "string (`video` or `audio`)": /^(video|audio)$/,
    "string (fraction)": /^\d+\/\d+$/,
    "string (decimal seconds)": /^-?\d+\.\d+$/,
    "string (integer text)": /^\d+$/,
    "string (bytes, integer text)": /^\d+$/,
    "string (hexadecimal text)": /^0x[0-9a-f]+$/,
    "string (ratio `<n>:<n>`)": /^\d+:\d+$/,
    "string (address of the file)": /^http:\/\/127\.0\.0\.1:\d+\/\S+\.mp4$/,
  }),
);

/** Checks that a value has the type in the table of the contract. */
function ofType(type: string, value: unknown): void {
  const pattern = TYPES.get(type);
  if (pattern) expect(value).toEqual(expect.stringMatching(pattern));
  else if (type === "integer") expect(value).toSatisfy(Number.isInteger);
  else {
    const named = /^object of (integer flags \(0 or 1\)|strings)(?:: |; container tags that occur: )(.*)$/.exec(type);
    expect(named, `unknown type "${type}"`).not.toBeNull();
    const members = (named?.[2] ?? "").split(", ");
    const member = named?.[1] === "strings" ? expect.stringMatching(/./) : expect.toBeOneOf([0, 1]);
    expect(value).toMatchObject(Object.fromEntries(members.map((name) => [name, member])));
  }
}

// ── metadata ───────────────────────────────────────────────────────────────────────────────────────────────────────

type Probe = { streams: Record<string, unknown>[]; format: Record<string, unknown> };

const probes = ({ metadata }: Evidence): Probe[] => {
  const { input, outputs } = (metadata.body as { metadata: { input: Probe; outputs: Record<string, Probe>[] } })
    .metadata;
  const files = outputs.flatMap((output) => Object.values(output)).filter(isVideo);
  return [input, ...files];
};

/** True for videos: streams have packages, and images have no audio. */
const isVideo = (probe: Probe): boolean =>
  !("hls" in probe) && probe.streams.some(({ codec_type }) => codec_type === "audio");

/** A field of streams of one kind, in the metadata of the input and of each output. */
const streamField =
  (kind: "video" | "audio" | null) =>
  ({ name, cells }: Row): Proof =>
    live("the metadata of an H.264 and AAC input and of two outputs", (evidence) => {
      expect(probes(evidence)).toHaveLength(3);
      for (const { streams } of probes(evidence)) {
        const some = streams.filter(({ codec_type }) => kind === null || codec_type === kind);
        expect(some).toHaveLength(kind === null ? 2 : 1);
        for (const stream of some) ofType(cells.Type ?? "", stream[name]);
      }
    });

const formatField = ({ name, cells }: Row): Proof =>
  live("the metadata of an mp4 input with tags and of two outputs", (evidence) => {
    for (const { format } of probes(evidence)) ofType(cells.Type ?? "", format[name]);
  });

// ── resources ──────────────────────────────────────────────────────────────────────────────────────────────────────

type Job = { outputs: Record<string, unknown>[] } & Record<string, unknown>;

const created = (evidence: Evidence): Job => evidence.created.body as Job;
const outputOf = (job: Job, key: string): Record<string, unknown> => {
  const ofKey = job.outputs.find((output) => output.key === key);
  expect(ofKey, key).toBeDefined();
  return ofKey ?? {};
};
const member = (job: Job, outputKey: string, name: string): unknown => outputOf(job, outputKey)[name];

const jobFields = new Map(
  Object.entries<Proof["check"]>({
    id: (evidence) =>
      expect([created(evidence).id, evidence.done.id]).toEqual(Array(2).fill(expect.stringMatching(/^\w{14}$/))),
    created_at: ({ done }) => expect(done.created_at).toMatch(DATE),
    completed_at: (evidence) => {
      expect(created(evidence).completed_at).toBeNull();
      expect(evidence.done.completed_at).toMatch(DATE);
    },
    status: (evidence) =>
      expect([created(evidence).status, evidence.done.status]).toEqual(["job.starting", "job.completed"]),
    progress: (evidence) => expect([created(evidence).progress, evidence.done.progress]).toEqual(["0%", "100%"]),
    input: (evidence) =>
      expect([created(evidence).input, evidence.done.input]).toEqual([
        { status: "input.starting", source: expect.any(String) },
        { status: "input.transferred", source: expect.any(String) },
      ]),
    outputs: (evidence) =>
      expect(created(evidence).outputs.map((output) => Object.keys(output))).toEqual(
        Array(9).fill(["key", "type", "format", "status"]),
      ),
  }),
);

const outputFields = new Map(
  Object.entries<Proof["check"]>({
    key: ({ done }) =>
      expect(done.outputs.map(({ key }: { key: string }) => key)).toEqual([
        "mp4:240p",
        "trailer:short",
        "mp4:hevc_1080p",
        "jpg:160x",
        "jpg:::quality=2",
        "jpg:x100:1",
        "jpg:x100:2",
        "stream",
        "httpstream:2",
      ]),
    type: ({ done }) =>
      expect(["mp4:240p", "jpg:160x", "stream"].map((key) => member(done, key, "type"))).toEqual([
        "video",
        "image",
        "httpstream",
      ]),
    format: ({ done }) => expect(member(done, "trailer:short", "format")).toBe("mp4:x120::quality=3"),
    status: ({ done }) =>
      expect(["mp4:240p", "jpg:160x", "mp4:hevc_1080p", "stream"].map((key) => member(done, key, "status"))).toEqual([
        "video.encoded",
        "image.created",
        "video.skipped",
        "httpstream.packaged",
      ]),
    url: ({ done }) => expect(member(done, "mp4:240p", "url")).toMatch(/^http:.*\/all\/240p\.mp4$/),
    urls: ({ done, playlists }) => {
      const at = (name: string): unknown => expect.stringMatching(`^http:.*/all/${name}$`);
      expect(member(done, "jpg:160x", "urls")).toEqual(["01", "02", "03"].map((n) => at(`${n}\\.jpg`)));
      expect(member(done, "stream", "urls")).toEqual([
        { format: "hls", url: at("hls/master\\.m3u8"), segments: "mpegts" },
        { format: "dash", url: at("dash/master\\.mpd"), segments: "fmp4" },
        { format: "hls", url: at("dash/master\\.m3u8"), segments: "fmp4" },
      ]);
      const [hls, dash] = [expect.stringMatching(/^#EXTM3U\n/), expect.stringContaining("<MPD ")];
      expect(playlists).toEqual([hls, dash, hls]);
    },
  }),
);

const fieldsOf =
  (by: string, checks: ReadonlyMap<string, Proof["check"]>) =>
  ({ name }: Row): Proof | null => {
    const check = checks.get(name);
    return check ? live(by, check) : null;
  };

// ── the request ────────────────────────────────────────────────────────────────────────────────────────────────────

const accepted: Proof["check"] = (evidence) => expect(evidence.created.status).toBe(201);

/** The body of the completed job has all these fields. Requests with a missing or invalid field are rejected. */
const requestField = ({ heading, name }: Row): Proof =>
  live("the body of a completed job, and a request in which the field is missing or not valid", (evidence) => {
    accepted(evidence);
    const field = heading === "Job creation request" ? name : `${heading}.${name}`;
    const response = evidence.fields.get(field);
    const error = { status: "error", message: expect.stringContaining(name) };
    expect(response, `a request for ${field}`).toMatchObject({ status: 400, body: error });
  });

const outputParameters = new Map(
  Object.entries<Proof["check"]>({
    key: ({ done, indexedMetadata }) => {
      const statuses = ["trailer:short", "mp4:240p", "jpg:x100:1"].map((key) => member(done, key, "status"));
      expect(statuses).toEqual(["video.encoded", "video.encoded", "image.created"]);
      // `mp4:240p` is a single object without a key. `<format>:<index>` is another name for it.
      expect(indexedMetadata.status).toBe(200);
    },
    path: ({ done }) => expect(member(done, "trailer:short", "url")).toMatch(/\/all\/trailer\.mp4$/),
    if: ({ done }) => expect(member(done, "mp4:hevc_1080p", "status")).toBe("video.skipped"),
    duration: ({ outputMetadata }) => {
      const { metadata } = outputMetadata.body as { metadata: Record<string, Probe> };
      expect(Math.abs(Number(metadata["trailer:short"]?.format.duration) - 1)).toBeLessThan(0.04);
    },
    number: ({ done }) => expect(member(done, "jpg:160x", "urls")).toHaveLength(3),
    square: ({ metadata }) => {
      const { outputs } = (metadata.body as { metadata: { outputs: Record<string, Probe>[] } }).metadata;
      const [image] = outputs.flatMap((output) => output["jpg:x100:1"]?.streams ?? []);
      expect(image).toMatchObject({ width: 100, height: 100 });
    },
  }),
);

/** A failed output, beside outputs that are made. The job is failed. */
const ONE_OF_MANY = live("a job of which one output fails", ({ oneFailed }) => {
  const statuses = ["mp4:x120", "mkv", "jpg:160x", "vtt"].map((key) => member(oneFailed, key, "status"));
  expect([oneFailed.status, oneFailed.input.status]).toEqual(["job.failed", "input.transferred"]);
  expect(statuses).toEqual(["video.encoded", "video.failed", "image.created", "video.failed"]);
});

/** The test in which a single output fails. */
const ONE_FAILED = testNamed("test/failing-outputs.slow.test.ts", "fails only the output that ffmpeg cannot make");

// ── statuses, errors, events, endpoints ────────────────────────────────────────────────────────────────────────────

const status = ({ name }: Row): Proof =>
  name === "job.failed"
    ? ONE_FAILED
    : live("a client that followed the events of a job", ({ seen }) => expect([...seen]).toContain(name));

const ERROR_BODY = {
  message: expect.stringMatching(/\w/),
  error_code: expect.stringMatching(/^\w+$/),
  status: "error",
};

const errorField = ({ name }: Row): Proof =>
  name.includes("_not_valid")
    ? errorCode(name, "400")
    : live(`\`${name}\` in the responses to all requests that must fail`, ({ errors }) => {
        for (const { body } of errors.values()) expect(body).toEqual(ERROR_BODY);
      });

const errorCode = (code: string, http: string): Proof =>
  live(`a request whose response has the status ${http} and this code`, ({ errors }) => {
    expect(errors.get(code), `a request for ${code}`).toMatchObject({
      status: Number(http),
      body: { error_code: code },
    });
    expect(errors.get(code)?.headers.get("content-type")).toBe("application/json; charset=utf-8");
  });

const INTERNAL = "%s becomes an error response without internal details";

/** Codes that a healthy service does not return. */
const ELSEWHERE = new Map(
  Object.entries<Proof>({
    internal_error: testNamed("worker/http/responses/json-response.test.ts", INTERNAL),
    service_unavailable: testNamed("worker/http/responses/json-response.test.ts", INTERNAL),
    rate_limited: testNamed(
      "worker/http/responses/json-response.test.ts",
      "returns 429 for too many requests with the same key, but not for another key",
    ),
    scope_missing: testNamed(
      "worker/http/auth/scopes.test.ts",
      "gets an error that names the missing scope and its own scopes",
    ),
    too_many_jobs: testNamed(
      "worker/account/account-object.test.ts",
      "are rejected above its limit, except repeated requests and jobs of other accounts",
    ),
    sealing_key_missing: testNamed(
      "worker/http/operator/admin-rotation.test.ts",
      "removes a sealing key after everything was sealed again, and reports the missing key before that",
    ),
  }),
);

const event = ({ name }: Row): Proof =>
  live("a received webhook", ({ events }) => {
    expect(events.get(name)).toMatchObject({
      job_id: expect.stringMatching(/^\w{14}$/),
      event: name,
      metadata: expect.any(Boolean),
      data: { status: expect.any(String), progress: expect.stringMatching(/^\d+%$/) },
    });
  });

const STREAM_METADATA = {
  stream: {
    streams: expect.any(Array),
    format: { filename: expect.stringMatching(/hls\/master\.m3u8$/) },
    hls: { streams: expect.any(Array), format: { filename: expect.stringMatching(/hls\/master\.m3u8$/) } },
    dash: { streams: expect.any(Array), format: { filename: expect.stringMatching(/dash\/master\.mpd$/) } },
  },
};

const endpoints = new Map(
  Object.entries<Proof["check"]>({
    "POST /v2/jobs": accepted,
    "GET /v2/jobs/:jobid": ({ done }) => expect(done).toMatchObject({ status: "job.completed", progress: "100%" }),
    "GET /v2/metadata/jobs/:jobid": ({ metadata, done }) =>
      expect(metadata).toMatchObject({
        status: 200,
        body: {
          job_id: done.id,
          metadata: { input: { streams: [{}, {}] }, outputs: [{ "mp4:240p": {} }, {}, {}, {}, {}, STREAM_METADATA] },
        },
      }),
    "GET /v2/metadata/jobs/:jobid/:source_or_output-key-name": ({ inputMetadata, outputMetadata, done }) => {
      expect(inputMetadata).toMatchObject({
        status: 200,
        body: { job_id: done.id, metadata: { input: { format: {} } } },
      });
      expect(outputMetadata).toMatchObject({ status: 200, body: { metadata: { "trailer:short": { format: {} } } } });
    },
  }),
);

const PROOFS = new Map(
  Object.entries<(row: Row) => Proof | null>({
    "Job (as returned by the service)": fieldsOf("a job after its creation and after its completion", jobFields),
    "Output (as returned inside a job)": fieldsOf("the outputs of a completed job", outputFields),
    "Job creation request": requestField,
    settings: requestField,
    input: requestField,
    storage: requestField,
    notification: requestField,
    outputs: fieldsOf("the outputs of a completed job", outputParameters),
    "Stream fields (all streams)": streamField(null),
    "Additional fields of video streams": streamField("video"),
    "Additional fields of audio streams": streamField("audio"),
    "Format fields": formatField,
    "States and transitions": status,
    Errors: errorField,
    Endpoints: fieldsOf("a real job", endpoints),
    "2. Error codes": ({ name, cells }) => ELSEWHERE.get(name) ?? errorCode(name, cells.HTTP ?? ""),
    "9. Notification": event,
    README: () => ONE_OF_MANY,
    ...PARAMETERS,
  }),
);
