import { writeFile } from "node:fs/promises";
import { describe, expect, it, test } from "vitest";
import type { UploadPart } from "#shared/protocol/uploads.ts";
import { CLIP, clipPath, type Received, storage, upload, useUploads } from "../testing/jobs/upload-storage.ts";
import { fileContent } from "./content.ts";

useUploads();

describe("upload forms", () => {
  const form = { name: "encoded_video", fileName: 'ä "quoted" 1.mp4', contentType: "video/mp4" };
  const plainFields = [
    { name: "job_id", value: "AAAAAAAAAAAAAA" },
    { name: "video_id", value: "mp4:720p" },
  ];
  const headers = { authorization: "Basic dTpw" };
  const formPart = (origin: string, sizeBytes: number): UploadPart[] => [
    { url: `${origin}/in/a.mp4?id=7`, headers, offset: 0, sizeBytes, form: { ...form, fields: plainFields } },
  ];
  const parse = ({ body, headers }: Received): Promise<FormData> =>
    new Response(new Uint8Array(body), { headers: { "content-type": String(headers["content-type"]) } }).formData();

  it("sends the file of a form with its name, type and exact length", async () => {
    const { origin, received } = await storage();
    const progress: number[] = [];
    await upload(formPart(origin, CLIP.length), { onProgress: (bytes) => progress.push(bytes) });
    const empty = `${clipPath}.empty`;
    await writeFile(empty, "");
    await upload(formPart(origin, 0), { content: await fileContent(empty) });
    for (const [index, expected] of [CLIP, Buffer.alloc(0)].entries()) {
      const request = received[index];
      if (!request) throw new Error("No request");
      expect([request.method, request.url]).toEqual(["POST", "/in/a.mp4?id=7"]);
      expect(request.headers).toMatchObject({ ...headers, "content-length": String(request.body.length) });
      expect(request.headers["user-agent"]).toMatch(/^copra-node\/\d/);
      expect(request.headers).not.toHaveProperty("transfer-encoding");
      const fields = [...(await parse(request))];
      // Fields precede the file, so that a streaming receiver has them first.
      expect(fields.slice(0, -1)).toEqual(plainFields.map(({ name, value }) => [name, value]));
      const [name, file] = fields.at(-1) as [string, File];
      expect(name).toBe(form.name);
      expect([file.name, file.type]).toEqual([form.fileName, form.contentType]);
      expect(Buffer.from(await file.arrayBuffer()).equals(expected)).toBe(true);
    }
    expect(progress.at(-1)).toBe(CLIP.length);
  });

  it("retries a form with the same idempotency key", async () => {
    const keys: unknown[] = [];
    const { origin, received, tries } = await storage((request, response, attempt) => {
      keys.push(request.headers["idempotency-key"]);
      return attempt <= 2 && !response.writeHead(503).end().destroyed;
    });
    await upload(formPart(origin, CLIP.length));
    expect([...tries.values()]).toEqual([3]);
    expect((await parse(received[0] as Received)).has(form.name)).toBe(true);
    await upload(formPart(origin, CLIP.length));
    expect(keys).toEqual([keys[0], keys[0], keys[0], expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    expect(keys[3]).not.toBe(keys[0]);
  });

  it("sends a form three times at most, because each attempt may have arrived", async () => {
    const { origin, tries } = await storage(
      (request) => !!request.resume().once("end", () => request.socket.destroy()),
    );
    const retryPolicy = { backoff: { firstMs: 5, maxMs: 5 } };
    await expect(upload(formPart(origin, CLIP.length), { retryPolicy })).rejects.toMatchObject({
      code: "storage_unreachable",
    });
    expect([...tries.values()]).toEqual([3]);
  });

  test.each([
    [302, "storage_denied", "redirects are not followed"],
    [401, "storage_denied", "check the user and password in `storage.url`"],
    [404, "storage_url_not_found", "check the path in `storage.url`"],
    [413, "storage_denied", "it must accept files of this size"],
    [422, "storage_denied", "it must accept a POST of multipart/form-data"],
  ])("fails a form without retries on HTTP %i, with %s", async (status, code, advice) => {
    const { origin, tries } = await storage((request, response) => {
      const location = `http://${request.headers.host}/elsewhere`;
      request.resume().once("end", () => response.writeHead(status, { location }).end("<Code>Ignored</Code>"));
      return true;
    });
    await expect(upload(formPart(origin, CLIP.length))).rejects.toMatchObject({
      name: "AppError",
      code,
      message: `The upload URL responded with HTTP ${status}; ${advice}.`,
    });
    expect([...tries.entries()]).toEqual([["/in/a.mp4?id=7", 1]]);
  });
});
