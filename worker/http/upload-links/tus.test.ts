import { createExecutionContext } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { findUpload } from "../../db/uploads.ts";
import { settingsOf } from "../../settings.ts";
import { scratchUploadUrl } from "../../storage/source-uploads/scratch-uploads.ts";
import { useAccount } from "../../testing/jobs.ts";
import { ask, linkNow, newLink, PAGE, PART, storedText, tus } from "../../testing/upload-links.ts";
import { app } from "../app.ts";
import { partSizeOf } from "./part-size.ts";

const account = useAccount();

const [A, B, X] = ["a".repeat(PART), "b".repeat(PART), "x".repeat(PART)];
/** Two full parts and a short part. */
const FILE = [A, B, "cc"].join("");
const metadata = (name: string): string => `filetype ${btoa("video/mp4")},filename ${btoa(name)}`;

const create = (url: string, size = FILE.length, headers = {}) =>
  tus(url, "POST", { "upload-length": String(size), "upload-metadata": metadata("clip.mp4"), ...headers });
/** A link with a new upload, and the upload's URL. */
async function begun(size = FILE.length) {
  const link = await newLink(account.key);
  const { status, headers } = await create(link.tus_url, size);
  expect(status).toBe(201);
  return { link, url: urlIn(headers) };
}
const urlIn = (headers: Headers): string => new URL(headers.get("location") ?? "", "https://copra.test").href;
const patch = (url: string, offset: number | string, body: string, headers = {}) =>
  tus(url, "PATCH", { "upload-offset": String(offset), ...headers }, body);
const offsetAt = async (url: string): Promise<string | null> => (await tus(url, "HEAD")).headers.get("upload-offset");

const base64 = async (algorithm: string, text: string): Promise<string> =>
  btoa(String.fromCharCode(...new Uint8Array(await crypto.subtle.digest(algorithm, new TextEncoder().encode(text)))));

describe("a tus upload", () => {
  it("grows by whole parts, and completes with the last part", async () => {
    const { link, url } = await begun();
    expect(url).toBe(`${link.tus_url}/${(await linkNow(account.key, link)).upload?.id}`);
    const first = await tus(url, "HEAD");
    expect(first.status).toBe(200);
    expect(Object.fromEntries(first.headers)).toMatchObject({
      "upload-offset": "0",
      "upload-length": String(FILE.length),
      "upload-expires": new Date(link.expires_at).toUTCString(),
      "tus-resumable": "1.0.0",
      "cache-control": "no-store",
      "access-control-allow-origin": PAGE,
    });
    const sent = await patch(url, 0, A);
    expect([sent.status, sent.headers.get("upload-offset"), sent.headers.get("upload-expires")]).toEqual([
      204,
      String(PART),
      new Date(link.expires_at).toUTCString(),
    ]);
    expect(await linkNow(account.key, link)).toMatchObject({ status: "uploading", upload: { part_size: PART } });
    expect((await patch(url, PART, B)).status).toBe(204);
    expect(await offsetAt(url)).toBe(String(2 * PART));
    expect((await patch(url, 2 * PART, "cc")).headers.get("upload-offset")).toBe(String(FILE.length));
    const ended = await linkNow(account.key, link);
    expect(ended).toMatchObject({ status: "completed", upload: { name: "clip.mp4", status: "completed" } });
    expect((await storedText(ended.upload?.id)) === FILE).toBe(true);
    expect(await offsetAt(url)).toBe(String(FILE.length));
    expect((await patch(url, FILE.length, "")).status).toBe(400);
  });

  it("has the same upload when a request to create it is repeated", async () => {
    const { link, url } = await begun();
    await patch(url, 0, A);
    const again = await create(link.tus_url);
    expect([again.status, urlIn(again.headers)]).toEqual([201, url]);
    const other = await create(link.tus_url, FILE.length + 1);
    expect([other.status, other.body.error_code]).toEqual([409, "upload_state_conflict"]);
  });

  it("can have its first part in the request that creates it", async () => {
    const link = await newLink(account.key);
    const headers = { "upload-length": String(PART + 1), "upload-metadata": metadata("a") };
    const created = await tus(link.tus_url, "POST", headers, A);
    expect([created.status, created.headers.get("upload-offset")]).toEqual([201, String(PART)]);
    // The response was lost: the client sends the request again.
    const again = await tus(link.tus_url, "POST", headers, A);
    expect([again.status, again.headers.get("upload-offset")]).toEqual([201, String(PART)]);
    const url = urlIn(created.headers);
    expect((await patch(url, PART, "z")).status).toBe(204);
    expect((await linkNow(account.key, link)).status).toBe("completed");
  });

  it("stores a whole small file with its creation", async () => {
    const link = await newLink(account.key);
    const created = await tus(link.tus_url, "POST", { "upload-length": "4" }, "aaaa");
    expect([created.status, created.headers.get("upload-offset")]).toEqual([201, "4"]);
    const { upload, status } = await linkNow(account.key, link);
    expect([status, upload?.name, await storedText(upload?.id)]).toEqual(["completed", "upload", "aaaa"]);
  });

  it("rejects a request at another offset, and names the right offset", async () => {
    const { url } = await begun();
    await patch(url, 0, A);
    for (const offset of [0, 1, 2 * PART]) {
      const refused = await patch(url, offset, B);
      expect([refused.status, refused.body.error_code]).toEqual([409, "upload_state_conflict"]);
      expect(refused.body.message).toContain(String(PART));
    }
    expect(await offsetAt(url)).toBe(String(PART));
  });

  it("rejects another part size, and names the right size", async () => {
    const { url } = await begun();
    for (const [body, message] of [
      ["a", /from 5242880 to 94371840 bytes.*such as 5242880/],
      [`${A}a`, /such as 5242880/],
    ] as const) {
      const refused = await patch(url, 0, body);
      expect([refused.status, refused.body.error_code]).toEqual([400, "upload_part_not_valid"]);
      expect(refused.body.message).toMatch(message);
    }
    await patch(url, 0, A);
    for (const [body, message] of [
      [`${B}${"b".repeat(65536)}`, /must have exactly 5242880 bytes, and the request has 5308416/],
      ["b", /must have exactly 5242880 bytes/],
    ] as const) {
      expect((await patch(url, PART, body)).body.message).toMatch(message);
    }
    await patch(url, PART, B);
    expect((await patch(url, 2 * PART, "ccc")).body.message).toMatch(/must have exactly 2 bytes/);
  });

  it("checks parts with SHA-256, SHA-1 and MD5", async () => {
    for (const [name, algorithm] of [
      ["sha256", "SHA-256"],
      ["sha1", "SHA-1"],
      ["md5", "MD5"],
    ] as const) {
      const { link, url } = await begun(PART);
      const checksum = { "upload-checksum": `${name} ${await base64(algorithm, A)}` };
      const wrong = await patch(url, 0, X, checksum);
      expect([wrong.status, wrong.body.error_code]).toEqual([460, "upload_checksum_mismatch"]);
      expect(await offsetAt(url)).toBe("0");
      expect((await patch(url, 0, A, checksum)).status).toBe(204);
      expect((await linkNow(account.key, link)).status).toBe("completed");
    }
    const { url } = await begun(4);
    for (const checksum of ["crc32 AAAA", "sha1 AAAA", "sha1"]) {
      const refused = await patch(url, 0, "aaaa", { "upload-checksum": checksum });
      expect([refused.status, refused.body.error_code]).toEqual([400, "upload_part_not_valid"]);
    }
  });

  it("stores nothing of a request that breaks off", async () => {
    const { url } = await begun();
    const { readable, writable } = new FixedLengthStream(PART);
    const writer = writable.getWriter();
    const headers = { "upload-offset": "0", "content-type": "application/offset+octet-stream" };
    const broken = ask(url, { method: "PATCH", headers: { "tus-resumable": "1.0.0", ...headers }, body: readable });
    await writer.write(new TextEncoder().encode("aaaa"));
    await writer.abort(new Error("lost"));
    await broken.catch(() => undefined);
    expect(await offsetAt(url)).toBe("0");
    expect((await patch(url, 0, A)).status).toBe(204);
  });

  it("is removed by DELETE, and the link then takes another file", async () => {
    const { link, url } = await begun();
    await patch(url, 0, A);
    expect((await tus(url, "DELETE")).status).toBe(204);
    for (const method of ["HEAD", "PATCH", "DELETE"]) expect((await tus(url, method)).status).toBe(404);
    expect(await linkNow(account.key, link)).toMatchObject({ status: "waiting", upload: null });
    const second = await create(link.tus_url, 7);
    expect([second.status, urlIn(second.headers) === url]).toEqual([201, false]);
    expect((await tus(url, "HEAD")).status).toBe(404);
  });

  it("takes the method from X-HTTP-Method-Override", async () => {
    const { link, url } = await begun(4);
    const override = (method: string) => ({ "x-http-method-override": method, "upload-offset": "0" });
    expect((await tus(url, "POST", override("PUT"), "aaaa")).body.error_code).toBe("method_not_allowed");
    expect((await tus(url, "POST", override("PATCH"), "aaaa")).status).toBe(204);
    expect((await linkNow(account.key, link)).status).toBe("completed");
    const removed = await begun(4);
    expect((await tus(removed.url, "POST", override("DELETE"))).status).toBe(204);
  });

  it("continues uploads of the plain API, up to the first missing part", async () => {
    const { link, url } = await begun();
    await env.DB.prepare("UPDATE uploads SET part_bytes = ? WHERE id = ?").bind(PART, url.split("/").at(-1)).run();
    await ask(`${link.url}/parts/1`, { method: "PUT", body: A });
    await ask(`${link.url}/parts/3`, { method: "PUT", body: "cc" });
    expect(await offsetAt(url)).toBe(String(PART));
    expect((await patch(url, PART, B)).status).toBe(204);
    expect(await linkNow(account.key, link)).toMatchObject({ status: "uploading" });
    expect(await offsetAt(url)).toBe(String(FILE.length));
    expect(await linkNow(account.key, link)).toMatchObject({ status: "completed" });
  });

  it("completes the file before HEAD reports its full length", async () => {
    const { link, url } = await begun(4);
    await ask(`${link.url}/parts/1`, { method: "PUT", body: "aaaa" }).catch(() => undefined);
    await env.DB.prepare("UPDATE uploads SET part_bytes = 4 WHERE id = ?").bind(url.split("/").at(-1)).run();
    expect(await offsetAt(url)).toBe("4");
    expect((await linkNow(account.key, link)).status).toBe("completed");
  });

  it("describes itself to OPTIONS without Tus-Resumable", async () => {
    const link = await newLink(account.key, { max_size: 1234 });
    const { status, headers } = await ask(link.tus_url, { method: "OPTIONS" });
    expect(status).toBe(204);
    expect(Object.fromEntries(headers)).toMatchObject({
      "tus-version": "1.0.0",
      "tus-extension": "creation,creation-with-upload,termination,checksum,expiration",
      "tus-checksum-algorithm": "sha256,sha1,md5",
      "tus-max-size": "1234",
      "access-control-allow-headers": expect.stringMatching(/tus-resumable, upload-length.*upload-checksum/),
      "access-control-allow-methods": expect.stringContaining("PATCH"),
    });
    const exposed = (await tus(link.tus_url, "POST", { "upload-length": "4" })).headers;
    expect(exposed.get("access-control-expose-headers")).toMatch(/location.*upload-offset/);
  });

  it.each<[headers: Record<string, string>, status: number, code: string]>([
    [{ "tus-resumable": "0.2.2", "upload-length": "4" }, 412, "precondition_failed"],
    [{ "tus-resumable": "" }, 412, "precondition_failed"],
    [{}, 400, "request_not_valid"],
    [{ "upload-defer-length": "1" }, 400, "request_not_valid"],
    [{ "upload-length": "0" }, 400, "request_not_valid"],
    [{ "upload-length": "-1" }, 400, "request_not_valid"],
    [{ "upload-length": "100000001" }, 413, "body_too_large"],
    [{ "upload-length": "4", "upload-metadata": "filename ä" }, 400, "request_not_valid"],
    [{ "upload-length": "4", "upload-metadata": metadata("a\nb") }, 400, "request_not_valid"],
    [{ "upload-length": "4", origin: "https://evil.example.com" }, 403, "cross_site_request"],
  ])("row %#: rejects a creation that is not valid", async (headers, status, code) => {
    const link = await newLink(account.key);
    const refused = await tus(link.tus_url, "POST", headers);
    expect([refused.status, refused.body.error_code]).toEqual([status, code]);
    if (code === "precondition_failed") expect(refused.headers.get("tus-version")).toBe("1.0.0");
  });

  it.each<[headers: Record<string, string>, code: string]>([
    [{ "upload-offset": "0", "content-type": "video/mp4" }, "upload_part_not_valid"],
    [{ "content-type": "application/offset+octet-stream" }, "request_not_valid"],
    [{ "upload-offset": "x" }, "request_not_valid"],
  ])("row %#: rejects a part that is not valid", async (headers, code) => {
    const { url } = await begun(4);
    expect((await tus(url, "PATCH", headers, "aaaa")).body.error_code).toBe(code);
    expect(await offsetAt(url)).toBe("0");
  });

  it("rejects all requests after the link has expired", async () => {
    const { link, url } = await begun(4);
    await env.DB.prepare("UPDATE upload_links SET expires_at = 1 WHERE id = ?").bind(link.id).run();
    const answers = [await create(link.tus_url), await patch(url, 0, "aaaa"), await tus(url, "DELETE")];
    expect(answers.map(({ status, body }) => [status, body.error_code])).toEqual(
      Array(3).fill([410, "upload_link_ended"]),
    );
    expect((await tus(url, "HEAD")).status).toBe(410);
    expect(answers[0]?.headers.get("access-control-allow-origin")).toBe(PAGE);
  });
});

it("stores parts in the scratch bucket of a service without R2", async () => {
  const { STORAGE: _, ...withScratch } = env;
  const link = await newLink(account.key);
  const call = (url: string, method: string, headers: Record<string, string>, body?: string) =>
    app.request(
      url,
      {
        method,
        headers: { "tus-resumable": "1.0.0", "content-type": "application/offset+octet-stream", ...headers },
        ...(body === undefined ? {} : { body }),
      },
      withScratch,
      createExecutionContext(),
    );
  const lengths = { "upload-length": String(PART + 1), "content-length": String(PART) };
  const created = await call(link.tus_url, "POST", lengths, A);
  expect([created.status, created.headers.get("upload-offset")]).toEqual([201, String(PART)]);
  const url = urlIn(created.headers);
  const sent = await call(url, "PATCH", { "upload-offset": String(PART), "content-length": "1" }, "z");
  expect(sent.status).toBe(204);
  const { upload } = await linkNow(account.key, link);
  const row = await findUpload(env.DB, account.id, upload?.id ?? "", Date.now());
  expect([upload?.status, row?.store]).toEqual(["completed", "scratch"]);
  const { scratch } = settingsOf(env);
  if (!scratch) throw new Error("There is no scratch bucket");
  const read = await fetch(await scratchUploadUrl(scratch, upload?.id ?? "", 60));
  expect((await read.text()) === `${A}z`).toBe(true);
});

it("stores parts of 90 MiB", async () => {
  const size = 90 * 2 ** 20;
  const link = await newLink(account.key);
  const url = urlIn((await create(link.tus_url, size + 1)).headers);
  const megabyte = new Uint8Array(2 ** 20).fill(7);
  const { readable, writable } = new FixedLengthStream(size);
  const writing = (async () => {
    const writer = writable.getWriter();
    for (let at = 0; at < 90; at++) await writer.write(megabyte);
    await writer.close();
  })();
  const headers = { "upload-offset": "0", "content-type": "application/offset+octet-stream", "tus-resumable": "1.0.0" };
  const sent = await exports.default.fetch(new Request(url, { method: "PATCH", headers, body: readable }));
  await writing;
  expect([sent.status, sent.headers.get("upload-offset")]).toEqual([204, String(size)]);
  expect((await patch(url, size, "z")).status).toBe(204);
  expect((await linkNow(account.key, link)).upload).toMatchObject({ part_size: size, status: "completed" });
});

describe("the part size of a tus upload", () => {
  const MIB = 2 ** 20;
  it.each<[length: number, fileBytes: number]>([
    [1, 1],
    [90 * MIB, 90 * MIB],
    [5 * MIB, 5 * MIB + 1],
    [5 * MIB + 65536, 20 * MIB],
    [90 * MIB, 600e9],
    [64 * MIB, 600e9],
  ])("row %#: is the length of the first request", (length, fileBytes) => {
    expect(partSizeOf(length, fileBytes)).toBe(length);
  });

  it.each<[length: number, fileBytes: number, advice: string]>([
    [0, 4, "such as 4,"],
    [3, 4, "such as 4,"],
    [5 * MIB - 65536, 20 * MIB, "such as 5242880,"],
    [6 * MIB + 1, 20 * MIB, "such as 6291456,"],
    [91 * MIB, 91 * MIB, "such as 94371840,"],
    [91 * MIB, 600e9, "such as 94371840,"],
    [5 * MIB, 600e9, "from 60030976 to"],
    [30 * MIB, 20 * MIB, "such as 20971520,"],
  ])("row %#: must be possible, and the error names a possible size", (length, fileBytes, advice) => {
    expect(() => partSizeOf(length, fileBytes)).toThrow(advice);
  });
});
