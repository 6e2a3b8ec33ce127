import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { AllowPrivate } from "#shared/network/address-policy.ts";
import { ALLOW_SETTINGS, HOSTILE_ADDRESSES, isRefused } from "#shared/testing/hostile-addresses.ts";
import { basic, newAccount } from "../testing/jobs.ts";
import { app } from "./app.ts";

const keys = { access_key_id: "AKID", secret_access_key: "hunter2" };
const azureKeys = { account: "account", api_key: "aHVudGVyMg==" };
const bucket = { service: "s3other", bucket: "bucket", credentials: keys };

/** A valid job. */
const BODY = {
  input: { url: "https://media.example.com/video.mp4" },
  storage: { ...bucket, endpoint: "https://s3.example.com" },
  outputs: { "mp4:240p": { path: "/a.mp4" } },
  notification: { type: "http", url: "https://hooks.example.com/" },
};

/** The fields that contain a URL, with the error code and a body for each. */
const FIELDS: readonly (readonly [field: string, code: string, changes: (url: string) => object])[] = [
  ["input.url", "input_url_not_valid", (url) => ({ input: { url } })],
  ["input.endpoint", "input_not_valid", (url) => ({ input: { ...bucket, key: "video.mp4", endpoint: url } })],
  ["storage.endpoint", "storage_not_valid", (url) => ({ storage: { ...bucket, endpoint: url } })],
  ["storage.endpoint", "storage_not_valid", (url) => ({ storage: { ...bucket, service: "r2", endpoint: url } })],
  [
    "storage.endpoint",
    "storage_not_valid",
    (url) => ({ storage: { service: "azure", container: "videos", credentials: azureKeys, endpoint: url } }),
  ],
  ["storage.url", "storage_not_valid", (url) => ({ storage: { url } })],
  ["notification.url", "notification_not_valid", (url) => ({ notification: { type: "http", url } })],
  [
    "outputs.mp4:240p.watermark.url",
    "output_param_not_valid",
    (url) => ({ outputs: { "mp4:240p": { path: "/a.mp4", watermark: { url } } } }),
  ],
  [
    "outputs.jpg:320x.watermark.url",
    "output_param_not_valid",
    (url) => ({ outputs: { "jpg:320x": { path: "/a.jpg", watermark: { url } } } }),
  ],
  [
    "outputs.mp4:240p.burn.url",
    "output_param_not_valid",
    (url) => ({ outputs: { "mp4:240p": { path: "/a.mp4", burn: { url } } } }),
  ],
  [
    "outputs.jpg:320x.burn.font.url",
    "output_param_not_valid",
    (url) => ({ outputs: { "jpg:320x": { path: "/a.jpg", burn: { from: 1, font: { url } } } } }),
  ],
  [
    "outputs.httpstream.subtitles.0.url",
    "output_param_not_valid",
    (url) => ({ outputs: { httpstream: { path: "/s", hls: { path: "/hls" }, subtitles: [{ url, language: "en" }] } } }),
  ],
];

const post = async (
  path: string,
  body: object,
  headers: Record<string, string>,
  allow: AllowPrivate,
  OUTBOUND = env.OUTBOUND,
) => {
  const request = { method: "POST", headers, body: JSON.stringify({ ...BODY, ...body }) };
  const response = await app.request(`https://copra.test${path}`, request, { ...env, ALLOW_PRIVATE: allow, OUTBOUND });
  return { status: response.status, body: await response.text() };
};

const jobs = async () => (await env.DB.prepare("SELECT count(*) AS n FROM jobs").first<{ n: number }>())?.n;

/** Adds a user to HTTP URLs that have no user. */
const withUser = (url: string): string => url.replace(/^(https?:\/\/)(?!.*@)/, "$1user:hunter2@");

describe.each(FIELDS)("hostile URL in %s", (field, code, changes) => {
  it.each(ALLOW_SETTINGS)("rejects a URL under %s if it may lead to a private network", async (allow) => {
    const headers = basic((await newAccount()).key);
    expect(await post("/v2/jobs?dry_run=true", changes("https://public.example.com"), headers, allow)).toMatchObject({
      status: 200,
    });
    const before = await jobs();
    const urls = HOSTILE_ADDRESSES.filter((row) => isRefused(row, allow)).map(([url]) => withUser(url));
    const wrong: unknown[] = [];
    const check = async (url: string, at: number): Promise<void> => {
      const { status, body } = await post(at % 2 ? "/v2/jobs" : "/v2/jobs?dry_run=true", changes(url), headers, allow);
      const { error_code, message } = JSON.parse(body);
      const named = error_code === code && /^(?:has|is) /.test(message.replace(`\`${field}\` `, ""));
      if (status !== 400 || !named || body.includes("hunter2")) wrong.push([url, status, body]);
    };
    await Promise.all(urls.map(check));
    expect(wrong).toEqual([]);
    expect(await jobs()).toBe(before);
  });
});

/** True for fields that the Worker requests. Only nodes read inputs, watermarks, fonts and subtitles. */
const requestedByWorker = (field: string): boolean => /^(storage|notification)\./.test(field);

it.each(FIELDS)(
  "an IP address in %s is rejected on Cloudflare if the Worker connects to it",
  async (field, code, changes) => {
    const headers = basic((await newAccount()).key);
    for (const url of ["https://8.8.8.8:9000/", "https://[2606:4700::1111]/"]) {
      const send = (outbound: string) => post("/v2/jobs?dry_run=true", changes(url), headers, "none", outbound);
      expect((await send("direct")).status).toBe(200);
      const { status, body } = await send("edge");
      expect(status, body).toBe(requestedByWorker(field) ? 400 : 200);
      if (status === 400) {
        expect(JSON.parse(body)).toMatchObject({
          error_code: code,
          message: expect.stringMatching(/so use a host name$/),
        });
      }
    }
  },
);
