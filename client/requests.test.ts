// Valid and invalid requests: the compiler checks their types in this file (`npm run check`).
import { expect, it } from "vitest";
import type { Copra } from "./copra.ts";
import type { NotificationPayload } from "./types/facts.ts";
import type { JobRequest } from "./types/job-request.ts";

const input = { url: "https://example.com/video.mp4" };
const storage = { service: "coconut" } as const;
const notification = { type: "http", url: "https://example.com/hook" } as const;
const rest = { input, storage, notification };
const path = "a.mp4";
const many: Record<string, { path: string }> = { [`mp4:${720}p`]: { path } };

/** Never called: the compiler checks the calls in it. */
export const accepted = (copra: Copra) => [
  copra.jobs.create({ ...rest, outputs: { "mp4:720p": { path } } }),
  copra.jobs.create({ ...rest, outputs: { mp4: { path } } }),
  copra.jobs.create({ ...rest, outputs: { "MP4:720P": { path } } }),
  copra.jobs.create({ ...rest, outputs: { "webm:vp9_1080p_2000k:opus_96k": { path } } }),
  copra.jobs.create({ ...rest, outputs: { "mp4:720p::quality=4,maxrate=2000k": { path } } }),
  copra.jobs.create({ ...rest, outputs: { "mp4:640x360_23.98fps": { path, duration: 5, transpose: 90 } } }),
  copra.jobs.create({ ...rest, outputs: { "mp4:640x:x": { path }, "mp4:x360:noaudio": { path } } }),
  copra.jobs.create({ ...rest, outputs: { "mp3:192k_44100hz_stereo": { path } } }),
  copra.jobs.create({ ...rest, outputs: { "mov:prores_ks:pcm_s16le": { path } } }),
  copra.jobs.create({ ...rest, outputs: { "mp4:hevc_1080p::pix_fmt=yuv420p10le,2pass,level=41": { path } } }),
  copra.jobs.create({ ...rest, outputs: { "mp4:720p": [{ path }, { path: "b.mp4", key: "b" }] } }),
  copra.jobs.create({ ...rest, outputs: { "jpg:320x": { path: "%02d.jpg", number: 5 } } }),
  copra.jobs.create({ ...rest, outputs: { "gif:320x": { path: "a.gif", scene: { number: 3, duration: 2 } } } }),
  copra.jobs.create({ ...rest, outputs: { httpstream: { hls: { path: "hls" }, variants: ["mp4:720p"] } } }),
  copra.jobs.create({ ...rest, outputs: { mp4: { path, format: { resolution: "720p", quality: 4 } } } }),
  copra.jobs.create({ ...rest, outputs: many }),
  copra.jobs.create({
    ...rest,
    outputs: { mp4: { path, if: undefined } },
    settings: { ultrafast: true, priority: -50 },
  }),
  copra.jobs.create({
    ...rest,
    input: {
      service: "s3",
      bucket: "b",
      region: "eu-west-1",
      key: "a",
      credentials: { access_key_id: "a", secret_access_key: "b" },
    },
    outputs: { mp4: { path } },
  }),
  copra.jobs.create({
    ...rest,
    storage: { service: "azure", container: "c", credentials: { account: "a", api_key: "k" } },
    outputs: { mp4: { path } },
  }),
  copra.jobs.plan({ ...rest, outputs: { "mp4:2160p": { path } } }, { width: 3840, height: 2160, rotation: 90 }),
];

export const refused = (copra: Copra) => [
  // @ts-expect-error a digit is a letter
  copra.jobs.create({ ...rest, outputs: { "mp4:72Op": { path } } }),
  // @ts-expect-error no such container
  copra.jobs.create({ ...rest, outputs: { "mp5:720p": { path } } }),
  // @ts-expect-error no such preset
  copra.jobs.create({ ...rest, outputs: { "mp4:700p": { path } } }),
  // @ts-expect-error an encoder is not a codec
  copra.jobs.create({ ...rest, outputs: { "mp4:x264": { path } } }),
  // @ts-expect-error no such frame rate
  copra.jobs.create({ ...rest, outputs: { "mp4:720p_26fps": { path } } }),
  // @ts-expect-error audio in the segment of the video
  copra.jobs.create({ ...rest, outputs: { "mp4:128k_stereo": { path } } }),
  // @ts-expect-error a quality from 1 to 5
  copra.jobs.create({ ...rest, outputs: { "mp4:720p::quality=6": { path } } }),
  // @ts-expect-error a segment too many
  copra.jobs.create({ ...rest, outputs: { "mp3:192k::a:b": { path } } }),
  // @ts-expect-error images have no codec
  copra.jobs.create({ ...rest, outputs: { "jpg:h264": { path } } }),
  // @ts-expect-error streams have no segments
  copra.jobs.create({ ...rest, outputs: { "httpstream:720p": { hls: { path } } } }),
  // @ts-expect-error the second output is not valid
  copra.jobs.create({ ...rest, outputs: { "mp4:720p": { path }, "webm:vp10": { path } } }),
  // @ts-expect-error no path
  copra.jobs.create({ ...rest, outputs: { mp4: {} } }),
  // @ts-expect-error a parameter of images
  copra.jobs.create({ ...rest, outputs: { mp4: { path, number: 5 } } }),
  // @ts-expect-error misspelled
  copra.jobs.create({ ...rest, outputs: { mp4: { path, durations: 5 } } }),
  // @ts-expect-error no such service
  copra.jobs.create({ ...rest, storage: { service: "s4", bucket: "b" }, outputs: { mp4: { path } } }),
  // @ts-expect-error no input
  copra.jobs.create({ storage, notification, outputs: { mp4: { path } } }),
  // @ts-expect-error misspelled section
  copra.jobs.create({ ...rest, outputs: { mp4: { path } }, setting: { ultrafast: true } }),
  // @ts-expect-error a text is not a boolean
  copra.jobs.create({ ...rest, outputs: { mp4: { path } }, settings: { ultrafast: "yes" } }),
  // @ts-expect-error no such type
  copra.jobs.create({ ...rest, notification: { type: "https", url: "https://a" }, outputs: { mp4: { path } } }),
  // @ts-expect-error no such status
  copra.jobs.list({ status: "job.done" }),
];

/** Checks that events of webhooks and streams have the type of their data. */
export function keyOf(event: NotificationPayload): string {
  if (event.event === "output.completed" || event.event === "output.failed") return event.data.key;
  // @ts-expect-error only outputs have a key
  if (event.event === "input.failed") return event.data.key;
  return event.event === "job.completed" ? event.data.id : event.job_id;
}

it("the types accept 20 valid requests and reject 20 invalid requests", () => {
  const request: JobRequest = { ...rest, outputs: many };
  expect(request.outputs).toBe(many);
  expect([accepted, refused].map((calls) => String(calls).match(/jobs\.(?:create|plan|list)\(/g)?.length)).toEqual([
    20, 20,
  ]);
});
