// Jobs that are full of secrets, and the secrets.
import type { LoopbackServer } from "../../local/demo/loopback-server.ts";
import type { FormReceiver } from "../services/form-receiver.ts";
import type { SourceServer } from "../services/source-server.ts";
import type { WebhookReceiver } from "../services/webhook-receiver.ts";
import type { TestStack } from "../stack.ts";
import { newSecret } from "./secret-traces.ts";

/** Secrets of clients that nodes need for their work. */
export const FOR_NODES = {
  "the input's password": newSecret(),
  "the input's signature": newSecret(),
  "the input's header": newSecret(),
  "the watermark's password": newSecret(),
  "the watermark's signature": newSecret(),
  "the subtitles' signature": newSecret(),
  "the stream's key": Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("hex"),
  "the upload address's password": newSecret(),
};
export const HIDDEN_FROM_NODES = {
  "the key of a storage that refuses it": newSecret(),
  "Azure's key": Buffer.from(newSecret()).toString("base64"),
  "the notification's password": newSecret(),
  "the notification's token": newSecret(),
  "the notification's parameter": newSecret(),
};
/** Secrets that the server of a source reveals to nodes. */
export const REDIRECTED = { "a redirect's password": newSecret(), "a redirect's signature": newSecret() };

const notification = (target: string): object => ({
  type: "http",
  url: `http://me:${HIDDEN_FROM_NODES["the notification's password"]}@${target}?token=${HIDDEN_FROM_NODES["the notification's token"]}`,
  params: { more: HIDDEN_FROM_NODES["the notification's parameter"] },
  events: true,
  metadata: true,
});

/** The servers that the jobs read from, write to and notify. */
type World = {
  readonly stack: Pick<TestStack, "s3" | "storage">;
  readonly sources: Pick<SourceServer, "origin">;
  /** Answers with redirects. */
  readonly redirects: Pick<LoopbackServer, "origin">;
  readonly receiver: Pick<FormReceiver, "origin">;
  readonly webhooks: Pick<WebhookReceiver, "url">;
};
type Jobs = Record<string, { ends: string; job: object }>;

/** Jobs by name that together contain all these secrets, with the expected end of each. */
export function secretJobs({ stack, sources, redirects, receiver, webhooks }: World): Jobs {
  const secretUrl = (file: string, password: string, signature: string): object => ({
    url: `http://me:${password}@${new URL(sources.origin).host}/${file}?X-Signature=${signature}`,
  });
  const input = (file: string): object => ({
    ...secretUrl(file, FOR_NODES["the input's password"], FOR_NODES["the input's signature"]),
    headers: { "X-Token": FOR_NODES["the input's header"] },
  });
  const watermark = (file: string): object =>
    secretUrl(file, FOR_NODES["the watermark's password"], FOR_NODES["the watermark's signature"]);
  const subtitles = (file: string): object[] => [
    { url: `${sources.origin}/${file}?sig=${FOR_NODES["the subtitles' signature"]}`, language: "en" },
  ];
  const mp4 = { "mp4:160x90": { path: "video.mp4" } };
  const encryption = { key: FOR_NODES["the stream's key"], key_uri: "https://keys.example.com/1" };
  const stream = { hls: { path: "hls" }, variants: ["mp4:160x90"], encryption };
  const { host: uploads } = new URL(receiver.origin);
  const refused = { ...stack.storage, credentials: { access_key_id: stack.s3.accessKeyId } };
  const [storageKey, azureKey] = [
    HIDDEN_FROM_NODES["the key of a storage that refuses it"],
    HIDDEN_FROM_NODES["Azure's key"],
  ];
  const { bucket, endpoint, region, accessKeyId, secretAccessKey } = stack.s3;
  const credentials = { access_key_id: accessKeyId, secret_access_key: secretAccessKey };
  const webhook = notification(new URL(webhooks.url).host + new URL(webhooks.url).pathname);
  return {
    whole: {
      ends: "job.completed",
      job: {
        input: input("clip.mp4"),
        outputs: {
          "mp4:160x90": { path: "video.mp4", watermark: watermark("logo.png") },
          httpstream: { ...stream, subtitles: subtitles("en.srt") },
        },
        settings: { ultrafast: true },
        notification: webhook,
      },
    },
    fromBucket: {
      ends: "job.completed",
      job: {
        input: { service: "s3other", endpoint, region, bucket, force_path_style: true, credentials, key: "clip.mp4" },
        outputs: mp4,
      },
    },
    toAddress: {
      ends: "job.completed",
      job: {
        input: input("clip.mp4"),
        outputs: mp4,
        storage: { url: `http://me:${FOR_NODES["the upload address's password"]}@${uploads}/in` },
      },
    },
    refused: {
      ends: "job.failed",
      job: {
        input: input("clip.mp4"),
        outputs: mp4,
        storage: { ...refused, credentials: { access_key_id: accessKeyId, secret_access_key: storageKey } },
        notification: notification("127.0.0.1:9/"),
      },
    },
    noContainer: {
      ends: "job.failed",
      job: {
        input: input("clip.mp4"),
        outputs: mp4,
        storage: {
          service: "azure",
          endpoint: sources.origin,
          container: "none",
          credentials: { account: "copratest", api_key: azureKey },
        },
        notification: notification("no-such-host.invalid/"),
      },
    },
    toPrivate: { ends: "job.failed", job: { input: { url: `${redirects.origin}/private` }, outputs: mp4 } },
    toNowhere: { ends: "job.failed", job: { input: { url: `${redirects.origin}/nowhere` }, outputs: mp4 } },
    notMedia: { ends: "job.failed", job: { input: input("text.mp4"), outputs: mp4 } },
    nothing: { ends: "job.failed", job: { input: input("missing.mp4"), outputs: mp4, notification: webhook } },
    unlucky: {
      ends: "job.failed",
      job: {
        input: input("clip.mp4"),
        outputs: {
          "mp4:322x182": { path: "a.mp4", watermark: watermark("logo.png") },
          "mp4:160x90": { path: "b.mp4", watermark: watermark("missing.png") },
          httpstream: { ...stream, subtitles: subtitles("missing.srt") },
        },
      },
    },
  };
}
