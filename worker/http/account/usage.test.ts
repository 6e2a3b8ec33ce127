import { createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { dayOf } from "../../db/usage/usage-day.ts";
import worker from "../../index.ts";
import { ADMIN, bearer, jobBody, newAccount, useAccount } from "../../testing/jobs.ts";
import { app } from "../app.ts";
import { firstDayOfMonth } from "../fleet/metrics.ts";
import { parseUsageQuery } from "../query/usage-query.ts";

const account = useAccount(beforeEach);
beforeEach(async () => {
  await env.DB.prepare("DELETE FROM usage_days").run();
});

const ask = (method: string, path: string, body?: unknown) => account.request(method, path, body);
const ends = async (query = "") => (await ask("GET", `/v2/usage${query}`)).body.total.jobs;

/** Runs the sweeper once. All jobs are due. */
async function sweep(): Promise<void> {
  await env.DB.prepare("UPDATE jobs SET check_at = 1 WHERE check_at IS NOT NULL").run();
  await worker.scheduled(createScheduledController({ cron: "*/2 * * * *" }), env);
}

describe("GET /v2/usage", () => {
  it("counts a job once when it ends, also after a check by the sweeper", async () => {
    const { body: job } = await ask("POST", "/v2/jobs", jobBody());
    expect(await ends()).toEqual({ completed: 0, failed: 0, cancelled: 0 });
    await ask("DELETE", `/v2/jobs/${job.id}`);
    const one = { completed: 0, failed: 0, cancelled: 1 };
    await vi.waitFor(async () => expect(await ends()).toEqual(one));
    for (let round = 0; round < 2; round++) {
      await sweep();
      expect(await ends()).toEqual(one);
    }
    const { body } = await ask("GET", "/v2/usage");
    expect(body.days).toHaveLength(30);
    const today = new Date().toISOString().slice(0, 10);
    expect(body.days.at(-1)).toEqual({ day: today, ...body.total });
    expect(body).toMatchObject({ from: body.days[0].day, to: today, total: { node_seconds: 0, stored_bytes: 0 } });
    await ask("POST", `/v2/jobs/${job.id}/retry`);
    expect(await ends()).toEqual(one);
    await ask("DELETE", `/v2/jobs/${job.id}`);
    await vi.waitFor(async () => expect(await ends()).toEqual({ ...one, cancelled: 2 }));
    expect(await ends("?to=2020-01-01")).toEqual({ completed: 0, failed: 0, cancelled: 0 });
    const stranger = await newAccount();
    const { body: other } = await stranger.get("/v2/usage");
    expect(other.total.jobs).toEqual({ completed: 0, failed: 0, cancelled: 0 });
  });

  it.each([
    ["from=yesterday", "The query parameter `from` must be a date such as 2026-11-22"],
    ["to=2026-02-30", "The query parameter `to` must be a date such as 2026-11-22"],
    ["from=2026-11-23&to=2026-11-22", "The query parameter `from` must not be after `to`"],
    ["from=2025-11-21&to=2026-11-22", "The query parameter `from` must be at most 365 days before `to`"],
    ["since=2026-11-22", "The query has no field `since`; allowed: from, to, by"],
  ])("rejects the query %s", async (query, message) => {
    const { status, body } = await ask("GET", `/v2/usage?${query}`);
    expect([status, body.error_code, body.message]).toEqual([400, "query_not_valid", message]);
  });

  it.each([
    [{}, "2026-10-24", "2026-11-22"],
    [{ to: "2024-02-29" }, "2024-01-31", "2024-02-29"],
    [{ from: "2025-11-22" }, "2025-11-22", "2026-11-22"],
  ])("the query %j covers the days from %s to %s", (query, from, to) => {
    const days = { from: dayOf(Date.parse(from)), to: dayOf(Date.parse(to)) };
    expect(parseUsageQuery(query, Date.parse("2026-11-22T23:59:59Z"))).toEqual({ ...days, tag: null });
  });
});

describe("GET /metrics", () => {
  const linesOf = async (bindings: typeof env): Promise<string[]> => {
    const response = await app.request("/metrics", { headers: bearer(ADMIN) }, bindings);
    expect(response.status).toBe(200);
    return (await response.text()).split("\n");
  };

  it("counts the usage since the start of the month", async () => {
    const first = firstDayOfMonth(Date.now());
    const tomorrow = dayOf(Date.now()) + 1;
    const insert = (day: number, id: string) =>
      env.DB.prepare("INSERT INTO usage_days VALUES (?, ?, 2, 1, 1, 0, 1500, 60000, 0, 9000, 7, 8000)").bind(day, id);
    await env.DB.batch([insert(first - 1, "a"), insert(first, "a"), insert(first, "b"), insert(tomorrow, "a")]);
    expect(await linesOf(env)).toEqual(
      expect.arrayContaining([
        'copra_jobs_total{status="completed"} 6',
        'copra_jobs_total{status="aborted"} 3',
        'copra_output_media_seconds_total{tier="sd"} 4.5',
        'copra_output_media_seconds_total{tier="hd"} 180',
        "copra_uploaded_bytes_total 21",
        "copra_job_duration_seconds_count 12",
        "copra_job_duration_seconds_sum 24",
      ]),
    );
  });

  it("still reports the fleet while the database is unavailable", async () => {
    await linesOf(env);
    const DB = {
      prepare: () => {
        throw new Error("D1_ERROR: overloaded");
      },
    } as never;
    const lines = await linesOf({ ...env, DB });
    expect(lines).toContain("copra_hubs_unavailable 0");
    expect(lines.join()).not.toContain("copra_jobs_total");
  });
});
