import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { JobState } from "../job/state/job-state.ts";
import { viewJob } from "../job/views/job-view.ts";
import { checkedJob, newSpec } from "../testing/jobs.ts";
import { findJob, upsertJob } from "./jobs.ts";
import { packView, unpackView } from "./stored-view.ts";

/** A completed job with as many and as long URLs as a request allows. */
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
  it("fits into a row of D1 for the largest job, and nothing is lost", async () => {
    const { spec, status, version, completedAt, ...state } = await largestJob();
    const view = JSON.stringify(viewJob({ ...state, spec, status, version, completedAt }));
    expect(view.length).toBeGreaterThan(3_000_000);
    const { id, accountId, createdAt } = spec;
    await upsertJob(env.DB, { id, accountId, createdAt, status, version, completedAt, view, checkAt: 1 });
    expect((await findJob(env.DB, accountId, id))?.view).toBe(view);
    const row = await env.DB.prepare("SELECT octet_length(view) AS bytes FROM jobs WHERE id = ?").bind(id).first();
    expect(row?.bytes).toBeLessThan(200_000);
  });

  const long = "x".repeat(16_000);
  it.each<[string, unknown]>([
    ["numbered", ["https://a/01.jpg", "https://a/02.jpg", "https://a/10.jpg"]],
    ["with another extension", ["https://a/1.jpg", "https://a/2.jpg", "https://a/thumbs.vtt"]],
    ["one inside of another", ["aa", "aaa", "a"]],
    ["equal", ["https://a", "https://a"]],
    ["empty", ["", "", "b"]],
    ["one", ["https://a"]],
    ["none", []],
    ["beyond the basic plane", ["😀1😀", "😁1😁"]],
    ["playlists", [{ format: "hls", url: "https://a/m.m3u8" }]],
    ["a text", "https://a"],
  ])("is read as it was written: URLs that are %s", (_, urls) => {
    const view = JSON.stringify({
      id: long,
      outputs: [
        { key: "a", urls },
        { urls, url: "b" },
      ],
    });
    const stored = packView(view);
    expect(stored).not.toBe(view);
    expect(unpackView(stored)).toBe(view);
  });

  it("is the view itself for an ordinary job", () => {
    const view = JSON.stringify({ outputs: [{ urls: ["https://a/1.jpg", "https://a/2.jpg"] }] });
    expect([packView(view), unpackView(view)]).toEqual([view, view]);
  });
});
