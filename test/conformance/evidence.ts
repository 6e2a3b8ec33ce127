// Runs jobs and requests for all rows of the contract on a real stack, and collects the results.
import { join } from "node:path";
import { makeClip, tagged } from "../media.ts";
import { JobView } from "../services/api-client.ts";
import type { SourceServer } from "../services/source-server.ts";
import type { WebhookReceiver } from "../services/webhook-receiver.ts";
import type { Answer, SharedStack } from "../stack.ts";
import { ERROR_REQUESTS, FIELD_REQUESTS } from "./error-requests.ts";

// biome-ignore lint/suspicious/noExplicitAny: the checks read the results as a client would
type Json = any;

export type Evidence = {
  readonly stack: SharedStack;
  /** The response to the creation of a job, and the job after its end. */
  readonly created: Answer;
  readonly done: Json;
  /** The response with `done`. */
  readonly read: Answer;
  /** A job whose input does not exist, and a job whose storage denied the upload. */
  readonly inputFailed: Json;
  readonly outputFailed: Json;
  /** A job of which one output fails, and its webhook without the option for metadata. */
  readonly oneFailed: Json;
  readonly plainEvent: Json;
  readonly metadata: Answer;
  readonly inputMetadata: Answer;
  readonly outputMetadata: Answer;
  /** The metadata of the single output `mp4:240p`, requested by key and index. */
  readonly indexedMetadata: Answer;
  /** The content of the URLs of the finished stream, in their order. */
  readonly playlists: readonly string[];
  /** All statuses that a client saw while following the jobs. */
  readonly seen: ReadonlySet<string>;
  /** All webhook payloads of `done`. */
  readonly doneEvents: readonly Json[];
  /** The responses to requests with a missing or invalid field, by the field. */
  readonly fields: ReadonlyMap<string, Answer>;
  /** The statuses of requests to the service without /v2 and with /v1. */
  readonly outside: readonly number[];
  /** The last webhook payload of each event. */
  readonly events: ReadonlyMap<string, Json>;
  /** Responses to requests that must fail, by error code. */
  readonly errors: ReadonlyMap<string, Answer>;
};

export type World = { folder: string; stack: SharedStack; sources: SourceServer; webhooks: WebhookReceiver };

const NEVER = "{{ input.width }} > 10000";

/** Outputs of all types. Some are skipped, because their source has only 3 s and 640x360. */
const OUTPUTS = {
  "mp4:240p": { path: "/all/240p.mp4" },
  "mp4:x120::quality=3": [{ key: "trailer:short", path: "all/trailer.mp4", duration: 1 }],
  "mp4:hevc_1080p": { path: "all/1080p.mp4", if: NEVER },
  "jpg:160x": { path: "all/%02d.jpg", number: 3 },
  "jpg:::quality=2": { path: "all/small.jpg" },
  "jpg:x100": [
    { path: "all/square.jpg", square: true },
    { path: "all/never.jpg", if: NEVER },
  ],
  httpstream: [
    {
      key: "stream",
      path: "all",
      hls: { path: "hls" },
      dash: { path: "dash", hlsfmp4: true },
      variants: ["mp4:x120::quality=3", "mp4:x:64k"],
      segment_duration: 2,
    },
    { path: "never", hls: { path: "hls" }, if: NEVER },
  ],
};

/** The source has one audio track. */
const ONE_BROKEN = {
  "mp4:x120": { path: "one/video.mp4" },
  mkv: { path: "one/failed.mkv", audio: [{ from: 7 }] },
  "jpg:160x": { path: "one/image.jpg" },
  vtt: { path: "one/missing.vtt", from: "fr" },
};

export async function gatherEvidence({ folder, stack, sources, webhooks }: World): Promise<Evidence> {
  const seen = new Set<string>();
  const url = sources.urlOf(await tagged(await makeClip("ntsc.mp4", folder), join(folder, "tagged.mp4")));
  const notification = { type: "http", url: webhooks.url, events: true, metadata: true };
  const run = async (job: object, act?: (id: string) => Promise<unknown>): Promise<[Answer, Answer]> => {
    const settings = { ultrafast: true };
    const created = await stack.request("POST", "/jobs", { storage: stack.storage, notification, settings, ...job });
    const { id } = JobView.parse(created.body);
    const followed = followStatuses(stack, id, seen);
    await act?.(id);
    await stack.waitForJob(id);
    await followed;
    return [created, await stack.request("GET", `/jobs/${id}`)];
  };
  // Slow enough that the client sees the transfer.
  sources.delay(1500);
  const [created, read] = await run({ input: { url }, outputs: OUTPUTS });
  const done: Json = read.body;
  sources.delay(0);
  const [, { body: inputFailed }] = await run({ input: { url: sources.urlOf("missing.mp4") }, outputs: OUTPUTS });
  const [, { body: outputFailed }] = await run({
    input: { url },
    outputs: OUTPUTS,
    storage: deniedStorage(stack.storage),
  });
  const plain = { ...notification, metadata: false };
  const [, { body: oneFailed }] = await run({ input: { url }, outputs: ONE_BROKEN, notification: plain });
  await run({ input: { url }, outputs: OUTPUTS }, (id) => stack.request("DELETE", `/jobs/${id}`));
  const errors = new Map<string, Answer>();
  for (const [code, send] of ERROR_REQUESTS) errors.set(code, await send(stack, done.id));
  const fields = new Map<string, Answer>();
  for (const [name, send] of Object.entries(FIELD_REQUESTS)) fields.set(name, await send(stack, done.id));
  const bodies = (): Json[] => webhooks.received.map(({ body }) => body);
  const plainEnd = (body: Json): boolean => body?.event === "job.failed" && body.job_id === (oneFailed as Json).id;
  await webhooks.waitFor(({ body }) => body?.event === "job.aborted");
  await webhooks.waitFor(({ body }) => plainEnd(body));
  return {
    stack,
    created,
    done,
    read,
    inputFailed,
    outputFailed,
    oneFailed,
    plainEvent: bodies().find(plainEnd),
    doneEvents: bodies().filter((body) => body?.job_id === done.id),
    fields,
    outside: await outside(stack),
    metadata: await stack.request("GET", `/metadata/jobs/${done.id}`),
    inputMetadata: await stack.request("GET", `/metadata/jobs/${done.id}/input`),
    outputMetadata: await stack.request("GET", `/metadata/jobs/${done.id}/trailer:short`),
    indexedMetadata: await stack.request("GET", `/metadata/jobs/${done.id}/mp4:240p:1`),
    playlists: await playlistsOf(done),
    seen,
    events: new Map(bodies().map((body) => [String(body?.event), body])),
    errors,
  };
}

const deniedStorage = (storage: object): object => ({
  ...storage,
  credentials: { access_key_id: "nobody", secret_access_key: "wrong" },
});

async function outside({ api, apiKey }: SharedStack): Promise<number[]> {
  const headers = { authorization: `Basic ${btoa(`${apiKey}:`)}` };
  const paths = ["/jobs", "/v1/jobs", "/v2/jobs"];
  const responses = paths.map((path) => fetch(new URL(path, api), { headers }));
  return (await Promise.all(responses)).map(({ status }) => status);
}

async function playlistsOf({ outputs }: Json): Promise<string[]> {
  const { urls = [] } = outputs.find(({ key }: Json) => key === "stream") ?? {};
  return Promise.all(urls.map(async ({ url }: Json) => (await fetch(url)).text()));
}

/** Follows the events of a job until its end and records all statuses. */
async function followStatuses(stack: SharedStack, id: string, seen: Set<string>): Promise<void> {
  const authorization = `Basic ${btoa(`${stack.apiKey}:`)}`;
  const response = await fetch(`${stack.api}/jobs/${id}/events`, { headers: { authorization } });
  let text = "";
  for await (const chunk of response.body ?? []) text += new TextDecoder().decode(chunk);
  for (const [, data = ""] of text.matchAll(/^event: (?:job|end)\nid: \d+\ndata: (.*)$/gm)) {
    const job: Json = JSON.parse(data);
    for (const { status } of [job, job.input, ...job.outputs]) seen.add(status);
  }
}
