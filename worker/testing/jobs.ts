// Accounts, requests and jobs for tests of the Worker.
import { env, exports } from "cloudflare:workers";
import { beforeAll, inject } from "vitest";
import { newJobId } from "#shared/ids.ts";
import { packSplitPoints } from "#shared/media/frame-index.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import type { Chunking } from "#shared/protocol/chunks.ts";
import { InputSpec } from "#shared/request/input-section.ts";
import { parseJobRequest } from "#shared/request/job-request.ts";
import { randomBytes } from "../crypto/bytes.ts";
import { withoutSecrets } from "../http/jobs/create/create-job.ts";
import { dueEvents } from "../job/effects/account-events.ts";
import { sealJobSecrets, settleStreamKeys } from "../job/secrets/job-secrets.ts";
import { type JobState, newJob } from "../job/state/job-state.ts";
import { newWebhookSecret } from "../notify/signature.ts";
import type { JobSpec, NewJobSpec } from "../rpc/job-spec.ts";
import { settingsOf } from "../settings.ts";
import { resolveStorage } from "../storage/resolve-storage.ts";

export const ADMIN = "test-admin-token-of-32-characters";

type Sent = { method?: string; body?: unknown; raw?: string; headers?: Record<string, string> };

/** A response as a client reads it. */
export async function answerOf(response: Response) {
  const { status, headers } = response;
  return { status, headers, body: JSON.parse(await response.text()) };
}

/** Sends a request to the Worker and returns the response with its parsed body. */
export async function send(path: string, { method = "GET", body, raw, headers = {} }: Sent = {}) {
  const text = raw ?? (body === undefined ? null : JSON.stringify(body));
  const request = new Request(`https://copra.test${path}`, { method, headers, body: text });
  return answerOf(await exports.default.fetch(request));
}

/** A response with this error. */
export const failedWith = (status: number, error_code: string) => ({ status, body: { error_code } });

export const basic = (key: string): Record<string, string> => ({ authorization: `Basic ${btoa(`${key}:`)}` });
export const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

/** Requests with a credential. */
export const sender = (headers: Record<string, string>) => {
  const request = (method: string, path: string, body?: unknown) => send(path, { method, body, headers });
  return {
    request,
    get: (path: string) => request("GET", path),
    post: (path: string, body?: unknown) => request("POST", path, body),
    put: (path: string, body?: unknown) => request("PUT", path, body),
    delete: (path: string) => request("DELETE", path),
  };
};
export const operator = sender(bearer(ADMIN));

type Account = { id: string; key: string; webhookSecret: string } & ReturnType<typeof sender>;

export async function newAccount(): Promise<Account> {
  const { body } = await operator.post("/v2/admin/accounts", { name: "test" });
  const { account_id: id, api_key: key, webhook_secret: webhookSecret } = body;
  return { id, key, webhookSecret, ...sender(basic(key)) };
}

/** An account for all tests of a file, or for each. */
export function useAccount(before: typeof beforeAll = beforeAll): Account {
  const account = {} as Account;
  before(async () => void Object.assign(account, await newAccount()));
  return account;
}

export async function newNodeToken(): Promise<string> {
  const { body } = await operator.post("/v2/admin/node-tokens", { name: "test" });
  return body.node_token;
}

export const SECRET_KEY = "very-secret-storage-key";

/** A storage without a server: it makes new jobs fail. */
export const NOWHERE = {
  service: "s3other",
  endpoint: "http://127.0.0.1:9",
  bucket: "bucket",
  region: "us-east-1",
  force_path_style: true,
  credentials: { access_key_id: "AKID", secret_access_key: SECRET_KEY },
};

/** A storage whose responses to the storage check prove nothing. */
export const unclearStorage = (): object => ({
  ...NOWHERE,
  endpoint: `${inject("answers")}/${btoa('{"status":200}')}`,
});

/** A job that has started, after its storage check. */
export function checkedJob(spec: JobSpec): JobState {
  const state = { ...newJob(spec), storageCheck: null };
  return { ...state, emitted: dueEvents(state).emitted };
}

/** A valid body of POST /v2/jobs. No servers exist at its other URLs. */
export const jobBody = (changes: Record<string, unknown> = {}): Record<string, unknown> => ({
  input: { url: "https://media.example.com/video.mp4" },
  storage: unclearStorage(),
  outputs: { "mp4:240p": { path: "/out/240p.mp4" }, "jpg:320x": { path: "/out/%02d.jpg", number: 2 } },
  notification: { type: "http", url: "http://127.0.0.1:9/hook" },
  ...changes,
});

/** A job's specification as the Worker makes it. */
export async function newSpec(changes: Record<string, unknown> = {}): Promise<NewJobSpec> {
  const body = jobBody({ storage: NOWHERE, ...changes });
  const parsed = parseJobRequest(body, "loopback");
  if (!parsed.ok) throw new Error(parsed.error.message);
  const { secrets, ...request } = parsed.value;
  const origin = "https://copra.test";
  const storage = await resolveStorage(request.storage, {
    env,
    origin,
    keys: secrets.storage,
    account: { id: "account" },
  });
  const id = newJobId((count) => crypto.getRandomValues(new Uint8Array(count)));
  const webhook = newWebhookSecret(crypto.getRandomValues(new Uint8Array(32)));
  const streamKeys = settleStreamKeys(secrets.streamKeys, randomBytes);
  const sealed = { ...secrets, webhook, streamKeys };
  const sealedSecrets = await sealJobSecrets(id, sealed, settingsOf(env).sealingKeys);
  const share = { weight: 1, maxRunning: null, maxPriority: null };
  const createdAt = Date.UTC(2026, 0, 2, 3, 4, 5);
  const input = InputSpec.parse(request.input);
  const requested = withoutSecrets(body);
  return { id, accountId: "account", createdAt, ...request, input, storage, share, sealedSecrets, requested };
}

/** ffprobe's data for 10 s of video, 1280×720, with audio. */
export const PROBE: MediaProbe = {
  streams: [
    {
      index: 0,
      codec_type: "video",
      codec_name: "h264",
      width: 1280,
      height: 720,
      r_frame_rate: "30000/1001",
      avg_frame_rate: "30000/1001",
      duration: "10.010000",
      nb_frames: "300",
    },
    { index: 1, codec_type: "audio", codec_name: "aac", sample_rate: "48000", channels: 2, bit_rate: "128000" },
  ],
  format: { format_name: "mov,mp4,m4a,3gp,3g2,mj2", duration: "10.010000", size: "1000000" },
};

export const AUDIO_PROBE: MediaProbe = { streams: PROBE.streams.slice(1), format: PROBE.format };

/** ffprobe's data for this many seconds of video, 1280×720 at 25 frames per second, with audio. */
export const videoProbe = (seconds: number): MediaProbe => ({
  streams: PROBE.streams.map((stream) =>
    stream.codec_type === "video"
      ? { ...stream, ...RATE_25, duration: `${seconds}.000000`, nb_frames: String(25 * seconds) }
      : stream,
  ),
  format: { ...PROBE.format, duration: `${seconds}.000000` },
});
const RATE_25 = { r_frame_rate: "25/1", avg_frame_rate: "25/1" };

/** A node's report about splitting such a source. A copy of the source is in the folder of the inspect task. */
export const videoChunking = (seconds: number, folder = "inspect-1"): Chunking & { ok: true } => ({
  ok: true,
  source: { from: "scratch", pieces: [{ name: `${folder}/source-1`, sizeBytes: 1_000_000 }] },
  frames: 25 * seconds,
  bytes: 25_000 * seconds,
  startUs: 0,
  endUs: 1e6 * seconds,
  splitPoints: packSplitPoints(
    Array.from({ length: seconds / 2 - 1 }, (_, at) => {
      const index = 50 * (at + 1);
      return { index, splitUs: 40_000 * index - 20_000, frameUs: 40_000 * index, keyframe: index, bytes: 1000 * index };
    }),
  ),
  longestGopMs: 2000,
});
