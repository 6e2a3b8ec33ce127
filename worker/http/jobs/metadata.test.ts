import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import type { OutputReport } from "#shared/protocol/reports.ts";
import { jobOf } from "../../rpc/job.ts";
import { jobBody, PROBE, useAccount } from "../../testing/jobs.ts";
import { claimOne } from "../../testing/turns.ts";

const account = useAccount();
const ask = (method: string, path: string, body?: unknown) => account.request(method, `/v2${path}`, body);

const JPEG: MediaProbe = {
  streams: [{ index: 0, codec_type: "video", codec_name: "mjpeg", width: 320, height: 180 }],
  format: { format_name: "image2", filename: "1-00001.jpg", size: "5" },
};

const OUTPUTS = {
  "mp4:240p": { path: "a.mp4" },
  "jpg:320x": [{ path: "%02d.jpg", number: 2, vtt: true }],
  "mp4:x:64k": { path: "b.mp4", key: "audio" },
};

/** Creates a job whose outputs a node has made. Returns the job's id. */
async function completed(): Promise<string> {
  const { body } = await ask("POST", "/jobs", jobBody({ outputs: OUTPUTS, storage: { service: "coconut" } }));
  const job = jobOf(env, body.id);
  const claim = async (slotClass: "inspect" | "encode") => {
    const assignment = await claimOne(job, slotClass);
    return assignment;
  };
  const inspect = await claim("inspect");
  await job.complete(inspect.lease, { token: inspect.token, result: { kind: "inspect", probe: PROBE } });
  const { lease, token } = await claim("encode");
  const files = [[1], [1, 2, 3], [1]].map((numbers, output) =>
    numbers.map((file) => ({ output, file, sizeBytes: 5, etags: ['"e"'] })),
  );
  const sizes = files.flat().map(({ output, file, sizeBytes }) => ({ output, file, sizeBytes }));
  const signed = await job.uploads(lease, { token, files: sizes });
  if (!signed.ok) throw new Error(signed.error.message);
  const outputs = files.map(
    (own, output): OutputReport => ({ status: "made", output, files: own, probe: output === 1 ? JPEG : PROBE }),
  );
  await job.complete(lease, { token, result: { kind: "encode", outputs } });
  return body.id;
}

describe("the metadata of a completed job", () => {
  let id: string;
  beforeAll(async () => {
    id = await completed();
    expect((await ask("GET", `/jobs/${id}`)).body.status).toBe("job.completed");
  });
  const metadataOf = async (key: string) => (await ask("GET", `/metadata/jobs/${id}/${key}`)).body.metadata;

  it("returns the single output of a format with and without an index, under the requested name", async () => {
    const one = await metadataOf("mp4:240p");
    expect(one).toMatchObject({ "mp4:240p": { format: { duration: "10.010000" } } });
    expect(await metadataOf("mp4:240p:1")).toEqual({ "mp4:240p:1": one["mp4:240p"] });
  });

  it.each(["mp4:240p:2", "mp4:240p:01", "jpg:320x", "audio:1", "mp4:x:64k"])("finds no output %s", async (key) => {
    const { status, body } = await ask("GET", `/metadata/jobs/${id}/${key}`);
    expect([status, body.error_code]).toEqual([404, "metadata_not_found"]);
  });

  it("returns ffprobe's data of the first file of images, in both routes", async () => {
    const { urls, vtt_url } = (await ask("GET", `/jobs/${id}`)).body.outputs[1];
    const image = { streams: JPEG.streams, format: { ...JPEG.format, filename: urls[0] } };
    expect(await metadataOf("jpg:320x:1")).toMatchObject({ "jpg:320x:1": image });
    const { outputs } = (await ask("GET", `/metadata/jobs/${id}`)).body.metadata;
    expect(outputs.map((one: object) => Object.keys(one))).toEqual([["mp4:240p"], ["jpg:320x:1"], ["audio"]]);
    expect(outputs[1]["jpg:320x:1"]).toMatchObject(image);
    expect([urls.length, vtt_url]).toEqual([3, urls[2]]);
    expect(vtt_url).toMatch(/images\.vtt$/);
  });
});
