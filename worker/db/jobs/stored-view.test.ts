import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { JobState } from "../../job/state/job-state.ts";
import { viewJob } from "../../job/views/job-view.ts";
import { checkedJob, newSpec } from "../../testing/jobs.ts";
import { findJob, upsertJob } from "./jobs.ts";
import { packView, unpackView } from "./stored-view.ts";

const ORDINARY = {
  id: "Ab12Cd34Ef56Gh",
  created_at: "2026-11-20 20:01:02 +0000",
  completed_at: "2026-11-20 20:05:09 +0000",
  status: "job.completed",
  progress: "100%",
  input: { status: "input.transferred" },
  outputs: [240, 360, 480, 540, 576, 720, 900, 1080, 1440, 2160].map((height) => ({
    key: `mp4:${height}p`,
    type: "video",
    format: `mp4:${height}p`,
    url: `https://customer-media.s3.eu-central-1.amazonaws.com/uploads/2026/11/5f0c1b7e/${height}p.mp4`,
    status: "video.encoded",
    encoder: "libx264",
  })),
};

/** A completed job with the maximum number and length of URLs. */
async function largestJob(): Promise<JobState> {
  const folder = `${"ä/".repeat(335)}`;
  const paths = Array.from({ length: 30 }, (_, at) => `${folder}${at}/%04d.jpg`);
  const outputs = { jpg: paths.map((path, at) => ({ key: `${at}`, path, number: 100 })) };
  const state = checkedJob(await newSpec({ outputs }));
  const files = Array.from({ length: 100 }, () => ({ sizeBytes: 1 }));
  return {
    ...state,
    status: "job.completed",
    completedAt: 1,
    outputs: state.outputs.map((output) => ({ ...output, phase: "done", images: { frames: 100, files: 100 }, files })),
  };
}

describe("the stored view of a job", () => {
  it("fits into a row of D1 for the largest job, without loss", async () => {
    const { spec, status, version, completedAt, ...state } = await largestJob();
    const view = JSON.stringify(viewJob({ ...state, spec, status, version, completedAt }));
    expect(view.length).toBeGreaterThan(3_000_000);
    const { id, accountId, createdAt } = spec;
    await upsertJob(env.DB, {
      id,
      accountId,
      createdAt,
      status,
      version,
      completedAt,
      view,
      checkAt: 1,
      search: null,
      usage: null,
      tags: null,
    });
    expect((await findJob(env.DB, accountId, id))?.view).toBe(view);
    const row = await env.DB.prepare("SELECT octet_length(view) AS bytes FROM jobs WHERE id = ?").bind(id).first();
    expect(row?.bytes).toBeLessThan(200_000);
  });

  it.each<[string, string]>([
    ["without any text", "{}"],
    ["with texts beyond ASCII", JSON.stringify({ error: "Größe 😀 \u0000 \ud800 \\".repeat(20) })],
    ["that starts like a stored one", "z"],
  ])("is read as it was written: %s", (_, view) => {
    expect(unpackView(packView(view))).toBe(view);
  });

  it("can be read when an earlier version stored it uncompressed", () => {
    const view = JSON.stringify({ outputs: [{ urls: ["https://a/1.jpg", "https://a/2.jpg"] }] });
    expect(unpackView(view)).toBe(view);
  });

  it("can be read with the dictionary of 2026-11-22", () => {
    // Stored on 2026-11-22. If this fails, the dictionary has changed, and stored views cannot be read anymore.
    const stored =
      "z1:xdVLCsIwEAbgq3gByUyaSbE7EfEULvpIUWit9LH07hKbrlQGmkT3PwMfzD/jBPsC5aFK1LEmfbp89cBGQgaYgWQ9c5Qy2P3" +
      "U49OJchrGrjX9tjXVNXcNKc1t7PPmrSTTvenyahAWLBAF1VBikRphR/vWJtGswEViCOxoX4Hie68+1T6MIMTpIn6LKN4WUY" +
      "AtolSzgjkSRZBqb8HaQx5GYEf7CnbAClwkhsCO/t8LD2N4zfZGKL7NSyYKQgXos0T+LSyZKJ8N1z2G8+MJ";
    expect(unpackView(stored)).toBe(JSON.stringify(ORDINARY));
  });

  it("takes less than 14 % of the space for an ordinary job", () => {
    const view = JSON.stringify(ORDINARY);
    expect(packView(view).length / view.length).toBeLessThan(0.14);
  });
});
