import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import { jobOf } from "../rpc/job.ts";
import { newSpec } from "../testing/jobs.ts";
import { S3_STORAGE } from "../testing/s3-storage.ts";
import { rewriteState } from "../testing/stored-state.ts";

it("aborts many uploads in several invocations: Cloudflare's Free plan allows 50 requests in each", async () => {
  const spec = await newSpec({ storage: S3_STORAGE });
  const stub = jobOf(env, spec.id);
  await stub.create(spec);
  await stub.cancel();
  const orphans = Array.from({ length: 100 }, (_, at) => ({ objectName: `${at}.mp4`, uploadId: `u-${at}` }));
  await rewriteState(stub, (state) => ({ ...state, orphans, outbox: [] }));
  const send = globalThis.fetch;
  const sent = { now: 0, most: 0, total: 0 };
  // All requests of an invocation start at once, and the next alarm waits for its end.
  vi.spyOn(globalThis, "fetch").mockImplementation(async (...request) => {
    sent.total += 1;
    sent.most = Math.max(sent.most, ++sent.now);
    return await send(...request).finally(() => --sent.now);
  });
  await runDurableObjectAlarm(stub);
  await expect.poll(() => sent.total).toBe(orphans.length);
  expect(sent.most).toBeLessThanOrEqual(40);
});
