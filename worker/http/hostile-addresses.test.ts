import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import type { AllowPrivate } from "#shared/network/address-policy.ts";
import { JOB_WITH_URLS, URL_FIELDS } from "#shared/testing/url-fields.ts";
import { basic, newAccount } from "../testing/jobs.ts";
import { app } from "./app.ts";

const post = async (
  path: string,
  body: object,
  headers: Record<string, string>,
  allow: AllowPrivate,
  OUTBOUND = env.OUTBOUND,
) => {
  const request = { method: "POST", headers, body: JSON.stringify({ ...JOB_WITH_URLS, ...body }) };
  const response = await app.request(`https://copra.test${path}`, request, { ...env, ALLOW_PRIVATE: allow, OUTBOUND });
  return { status: response.status, body: await response.text() };
};

const jobs = async () => (await env.DB.prepare("SELECT count(*) AS n FROM jobs").first<{ n: number }>())?.n;

it.each(URL_FIELDS)("a private address in %s ends the request before there is a job", async (field, code, changes) => {
  const headers = basic((await newAccount()).key);
  const before = await jobs();
  for (const path of ["/v2/jobs", "/v2/jobs?dry_run=true"]) {
    const { status, body } = await post(path, changes("http://user:hunter2@169.254.169.254/"), headers, "none");
    expect([status, JSON.parse(body).error_code]).toEqual([400, code]);
    expect(body).toContain(`\`${field}\``);
    expect(body).not.toContain("hunter2");
  }
  expect(await jobs()).toBe(before);
});

/** True for fields that the Worker requests. Only nodes read inputs, watermarks, fonts and subtitles. */
const requestedByWorker = (field: string): boolean => /^(storage|notification)\./.test(field);

it.each(URL_FIELDS)(
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
