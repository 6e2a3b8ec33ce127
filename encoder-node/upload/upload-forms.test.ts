import { writeFile } from "node:fs/promises";
import { afterAll, afterEach, describe, expect, it, test } from "vitest";
import type { UploadPart } from "#shared/protocol/protocol.ts";
import {
  closeStorages,
  endUploads,
  FILM,
  filmPath,
  type Received,
  storage,
  upload,
} from "../testing/upload-storage.ts";
import { fileContent } from "./content.ts";

afterEach(closeStorages);
afterAll(endUploads);

describe("forms", () => {
  const form = { name: "encoded_video", fileName: 'ä "cut" 1.mp4', contentType: "video/mp4" };
  const beside = [
    { name: "job_id", value: "AAAAAAAAAAAAAA" },
    { name: "video_id", value: "mp4:720p" },
  ];
  const headers = { authorization: "Basic dTpw" };
  const formPart = (origin: string, sizeBytes: number): UploadPart[] => [
    { url: `${origin}/in/a.mp4?id=7`, headers, offset: 0, sizeBytes, form: { ...form, fields: beside } },
  ];
  const parse = ({ body, headers }: Received): Promise<FormData> =>
    new Response(new Uint8Array(body), { headers: { "content-type": String(headers["content-type"]) } }).formData();

  it("carry the file with its name, type and exact length", async () => {
    const { origin, taken } = await storage();
    const progress: number[] = [];
    await upload(formPart(origin, FILM.length), { onProgress: (bytes) => progress.push(bytes) });
    const empty = `${filmPath}.empty`;
    await writeFile(empty, "");
    await upload(formPart(origin, 0), { content: await fileContent(empty) });
    for (const [index, expected] of [FILM, Buffer.alloc(0)].entries()) {
      const received = taken[index];
      if (!received) throw new Error("Nothing came");
      expect([received.method, received.url]).toEqual(["POST", "/in/a.mp4?id=7"]);
      expect(received.headers).toMatchObject({ ...headers, "content-length": String(received.body.length) });
      expect(received.headers["user-agent"]).toBe("copra-upload/1");
      expect(received.headers).not.toHaveProperty("transfer-encoding");
      const fields = [...(await parse(received))];
      // Fields come first: a receiver that reads on the fly knows what the file is.
      expect(fields.slice(0, -1)).toEqual(beside.map(({ name, value }) => [name, value]));
      const [name, file] = fields.at(-1) as [string, File];
      expect(name).toBe(form.name);
      expect([file.name, file.type]).toEqual([form.fileName, form.contentType]);
      expect(Buffer.from(await file.arrayBuffer()).equals(expected)).toBe(true);
    }
    expect(progress.at(-1)).toBe(FILM.length);
  });

  it("are sent again while that may help, and say by their key that they are the same", async () => {
    const keys: unknown[] = [];
    const { origin, taken, tries } = await storage((request, response, asked) => {
      keys.push(request.headers["idempotency-key"]);
      return asked <= 2 && !response.writeHead(503).end().destroyed;
    });
    await upload(formPart(origin, FILM.length));
    expect([...tries.values()]).toEqual([3]);
    expect((await parse(taken[0] as Received)).has(form.name)).toBe(true);
    await upload(formPart(origin, FILM.length));
    expect(keys).toEqual([keys[0], keys[0], keys[0], expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    expect(keys[3]).not.toBe(keys[0]);
  });

  it("are sent three times at most: each may have arrived, and nobody takes all of them out again", async () => {
    const { origin, tries } = await storage(
      (request) => !!request.resume().once("end", () => request.socket.destroy()),
    );
    const patience = { backoff: { firstMs: 5, maxMs: 5 } };
    await expect(upload(formPart(origin, FILM.length), { patience })).rejects.toMatchObject({
      code: "storage_unreachable",
    });
    expect([...tries.values()]).toEqual([3]);
  });

  test.each([
    [302, "storage_denied", "redirects are not followed"],
    [401, "storage_denied", "check the user and password in `storage.url`"],
    [404, "storage_url_not_found", "check the path in `storage.url`"],
    [413, "storage_denied", "it must take files of this size"],
    [422, "storage_denied", "it must take a POST of multipart/form-data"],
  ])("that are answered %i are %s, at once", async (status, code, advice) => {
    const { origin, tries } = await storage((request, response) => {
      const location = `http://${request.headers.host}/elsewhere`;
      request.resume().once("end", () => response.writeHead(status, { location }).end("<Code>Ignored</Code>"));
      return true;
    });
    await expect(upload(formPart(origin, FILM.length))).rejects.toMatchObject({
      name: "AppError",
      code,
      message: `The upload address answered ${status}; ${advice}.`,
    });
    expect([...tries.entries()]).toEqual([["/in/a.mp4?id=7", 1]]);
  });
});
