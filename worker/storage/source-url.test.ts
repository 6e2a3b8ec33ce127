import { env } from "cloudflare:workers";
import { AwsClient } from "aws4fetch";
import { describe, expect, inject, it } from "vitest";
import type { JobId } from "#shared/ids.ts";
import { InputSpec, parseInput } from "#shared/request/input-section.ts";
import { settingsOf } from "../settings.ts";
import { openStore } from "./open-store.ts";
import { shownSourceUrl, sourceUrl } from "./source-url.ts";

const s3 = inject("s3");
const credentials = { access_key_id: s3.accessKeyId, secret_access_key: s3.secretAccessKey };
const local = { service: "s3other", endpoint: s3.endpoint, bucket: "copra", force_path_style: true, credentials };
const BLOB = "in/a b+c(1)'ü%&=?#.mp4";
const KEY = "in//a b+c(1)'ü%&=?#.mp4";

function parsed(body: object) {
  const result = parseInput(body, "loopback");
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}
const settings = settingsOf(env);
/** A source that is not an upload. */
const inputOf = ({ input }: ReturnType<typeof parsed>): InputSpec => InputSpec.parse(input);
const signed = (source: ReturnType<typeof parsed>): Promise<string> =>
  sourceUrl(inputOf(source), source.secret, settings);

describe("the address that nodes fetch from", () => {
  it("is signed for a single object of the bucket, whatever its key, and allows ranges for 12 hours", async () => {
    const source = parsed({ ...local, key: KEY });
    const client = new AwsClient({ ...s3, service: "s3", region: "us-east-1" });
    expect((await client.fetch(shownSourceUrl(inputOf(source)), { method: "PUT", body: "0123456789" })).status).toBe(
      200,
    );
    const url = await signed(source);
    expect(new URL(url).searchParams.get("X-Amz-Expires")).toBe("43200");
    expect(url).not.toContain(s3.secretAccessKey);
    expect(await (await fetch(url)).text()).toBe("0123456789");
    const range = await fetch(url, { headers: { range: "bytes=4-" } });
    expect([range.status, await range.text()]).toEqual([206, "456789"]);
    expect((await fetch(url.replace("in//a", "in//b"))).status).toBe(403);
    const wrong = parsed({ ...local, key: KEY, credentials: { ...credentials, secret_access_key: "wrong" } });
    expect((await fetch(await signed(wrong))).status).toBe(403);
    expect((await fetch(await signed(parsed({ ...local, key: "missing" })))).status).toBe(404);
  });

  it("is signed for reading a single blob of Azure, and for ranges of it", async () => {
    const { endpoint, account, privateContainer: container, key: api_key } = inject("azure");
    const azure = { service: "azure", endpoint, container, credentials: { account, api_key } };
    const storage = { kind: "azure", endpoint, account, container, path: "", cacheControl: null } as const;
    const keys = { accessKeyId: account, secretAccessKey: api_key };
    const stored = openStore({ id: "AAAAAAAAAAAAAA" as JobId, storage }, keys, env);
    const output = { key: "a", type: "video" } as const;
    const [part] = await stored.sign(
      { objectName: BLOB, contentType: "video/mp4", cacheControl: null, sizeBytes: 10, output },
      null,
    );
    if (!part) throw new Error("Not signed");
    await fetch(part.url, { method: "PUT", headers: part.headers, body: "0123456789" });
    const source = parsed({ ...azure, key: BLOB });
    const url = await signed(source);
    expect([new URL(url).searchParams.get("sp"), new URL(url).searchParams.get("sr")]).toEqual(["r", "b"]);
    expect(url).not.toContain(encodeURIComponent(api_key));
    expect(shownSourceUrl(inputOf(source))).toBe(url.replace(/\?.*/, ""));
    const range = await fetch(url, { headers: { range: "bytes=4-" } });
    expect([range.status, await range.text()]).toEqual([206, "456789"]);
    expect((await fetch(url.replace("in/a", "in/b"))).status).toBe(403);
    const put = { method: "PUT", headers: { "x-ms-blob-type": "BlockBlob" }, body: "x" };
    expect((await fetch(url, put)).status).toBe(403);
  });

  it("is the input's own URL if the input has a URL", async () => {
    const url = "https://user:password@media.example.com:8443/a.mp4?signature=1";
    expect(await signed(parsed({ url }))).toBe(url);
  });
});

it("shows clients a URL of the source that contains no secret", () => {
  expect(shownSourceUrl(inputOf(parsed({ url: "https://u:p@media.example.com/a.mp4?s=1" })))).toBe(
    "https://media.example.com/a.mp4",
  );
  const upload = { kind: "upload", id: "a".repeat(20), name: "My clip.mov", store: "bucket", origin: "" } as const;
  expect(shownSourceUrl(upload)).toBe(`upload://${upload.id}/My%20clip.mov`);
  const file = { service: "folder", folder: "media", path: "/in/a #?b.mp4" };
  expect(shownSourceUrl(inputOf(parsed(file)))).toBe("folder://media/in/a%20%23%3Fb.mp4");
  const source = { service: "s3", bucket: "videos", region: "eu-west-1", key: "/in/a b.mp4", credentials };
  expect(shownSourceUrl(inputOf(parsed(source)))).toBe("https://videos.s3.eu-west-1.amazonaws.com/in/a%20b.mp4");
});
