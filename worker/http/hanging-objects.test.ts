import { afterEach, beforeAll, expect, it, vi } from "vitest";
import { AccountObject } from "../account/account-object.ts";
import { JobObject } from "../job/job-object.ts";
import { basic, jobBody, newAccount, send } from "../testing/jobs.ts";

let account: Awaited<ReturnType<typeof newAccount>>;
beforeAll(async () => {
  account = await newAccount();
});
afterEach(() => {
  vi.restoreAllMocks();
});

const never = (): Promise<never> => new Promise(() => undefined);

/** Longer than the deadlines of calls. */
const LIMIT_MS = 30_000;

it(
  "creates jobs while the account's object hangs, and is temporarily unavailable while the job's does",
  async () => {
    const headers = basic(account.key);
    const { body } = await send("/v2/jobs", { method: "POST", body: jobBody(), headers });
    vi.spyOn(AccountObject.prototype, "startJobs").mockImplementation(never);
    vi.spyOn(JobObject.prototype, "view").mockImplementation(never);
    const [created, viewed] = await Promise.all([
      send("/v2/jobs", { method: "POST", body: jobBody(), headers }),
      send(`/v2/jobs/${body.id}`, { headers }),
    ]);
    expect(created.status).toBe(201);
    expect([viewed.status, viewed.body.error_code]).toEqual([503, "service_unavailable"]);
  },
  LIMIT_MS,
);
