// A client uploads a file in parts, with an interruption. The file becomes the source of a job.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { Upload } from "#shared/api/uploads.ts";
import { basicAuth } from "../local/stack/access.ts";
import { fileFolder } from "./fixtures.ts";
import { look, lookAtFile } from "./look.ts";
import { makeClip } from "./media.ts";
import { sharedStack } from "./stack.ts";

const stack = sharedStack();
const folder = fileFolder();

/** A box of MP4 that readers skip (ISO/IEC 14496-12, 8.1.2). */
function freeBox(sizeBytes: number): Buffer {
  const box = Buffer.alloc(sizeBytes, 7);
  box.writeUInt32BE(sizeBytes, 0);
  box.write("free", 4, "latin1");
  return box;
}

const putPart = (id: string, number: number, body: BodyInit, more: object = {}): Promise<Response> =>
  fetch(`${stack.api}/uploads/${id}/parts/${number}`, {
    method: "PUT",
    headers: { authorization: basicAuth(stack.apiKey) },
    body,
    ...more,
  });

it("a source is uploaded in parts, resumed after an interruption, encoded, and removed", async () => {
  const clip = await makeClip("ntsc.mp4", folder);
  const file = Buffer.concat([readFileSync(clip), freeBox(70 * 2 ** 20)]);
  const created = Upload.parse((await stack.request("POST", "/uploads", { name: "ntsc.mp4", size: file.length })).body);
  const { id, part_size: partSize } = created;
  const bytesOf = (number: number) => file.subarray((number - 1) * partSize, number * partSize);
  expect((await putPart(id, 1, new Uint8Array(bytesOf(1)))).status).toBe(200);
  // The connection breaks in the middle of the second part.
  const broken = new ReadableStream({
    start: (controller) => controller.enqueue(new Uint8Array(bytesOf(2).subarray(0, 1000))),
    pull: (controller) => controller.error(new Error("the network is gone")),
  });
  await expect(putPart(id, 2, broken, { duplex: "half" })).rejects.toThrow();
  const partsOf = async () => Upload.safeParse((await stack.request("GET", `/uploads/${id}`)).body).data?.parts;
  await expect.poll(partsOf).toMatchObject([{ number: 1, size: partSize }]);
  expect((await putPart(id, 2, new Uint8Array(bytesOf(2)))).status).toBe(200);
  const completed = await stack.request("POST", `/uploads/${id}/complete`);
  expect(completed).toMatchObject({ status: 200, body: { id, status: "completed", size: file.length } });

  const outputs = { "mp4:240p": { path: "uploads/240p.mp4" } };
  const job = await stack.submit({ input: { upload: id }, outputs });
  const done = await stack.waitForJob(job.id);
  expect(done).toMatchObject({ status: "job.completed", input: { status: "input.transferred" } });
  const result = await look(String(done.outputs[0]?.url));
  expect(result.frames).toBe((await lookAtFile(clip)).frames);
  const metadata = await stack.request("GET", `/metadata/jobs/${job.id}/input`);
  expect(metadata.body).toMatchObject({ metadata: { input: { format: { filename: `upload://${id}/ntsc.mp4` } } } });
  const request = await stack.request("GET", `/jobs/${job.id}/request`);
  expect(request.body).toMatchObject({ request: { input: { upload: id } } });
  const commands = await stack.request("GET", `/jobs/${job.id}/commands`);
  expect(commands.status).toBe(200);
  const tasks = await stack.request("GET", `/jobs/${job.id}/tasks`);
  // No response contains the signature of the URL from which the node read the source.
  expect(JSON.stringify([metadata, request, commands, tasks].map(({ body }) => body))).not.toContain("signature");
  expect(stack.log("node-1")).not.toContain("signature=");

  // The job's row may still show an unfinished job.
  await expect.poll(async () => (await stack.request("DELETE", `/uploads/${id}`)).status).toBe(200);
  expect((await stack.request("GET", `/uploads/${id}`)).status).toBe(404);
  // A retry of the job finds its source gone.
  const again = await stack.submit({ input: { upload: id }, outputs }).catch((error: unknown) => String(error));
  expect(again).toContain("input_not_valid");
});
