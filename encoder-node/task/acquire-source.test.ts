// A slow source gives the slot of its task to others.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Assignment } from "#shared/protocol/tasks.ts";
import { closeServers, serve } from "../testing/range-server.ts";
import { silentLog } from "../testing/silent-log.ts";
import { NO_TRACE } from "../tracing/task-trace.ts";
import { acquireSource, type SourceDeps } from "./acquire-source.ts";
import { SourceCache } from "./source-cache.ts";

let folder: string;
let sources: SourceCache;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "copra-acquire-"));
  sources = new SourceCache(folder);
});
afterEach(async () => {
  closeServers();
  await sources.clear();
  await rm(folder, { recursive: true, force: true });
});

const BYTES = Buffer.alloc(100_000, 7);
const assignment = Assignment.parse({
  ...{ lease: "AAAAAAAAAAAAAA.encode.1", token: "t", jobId: "AAAAAAAAAAAAAA" },
  ...{ kind: "inspect", slotClass: "inspect", round: 0, task: { kind: "inspect", sourceUrl: "http://127.0.0.1/" } },
});

/** A host that sends the first half of a file at once, and the rest when the test opens the gate. */
async function gatedHost(headers: Record<string, string> = {}) {
  const responses: ServerResponse[] = [];
  const { origin, seen } = await serve((_, response) => {
    response.writeHead(200, { ...headers, "content-length": BYTES.length });
    response.write(BYTES.subarray(0, 50_000));
    responses.push(response);
  });
  const open = (): void => {
    for (const response of responses) response.end(BYTES.subarray(50_000));
  };
  return { url: origin, seen, open };
}

/** `hasRoom`: whether the task may give its slot back. */
function depsOf({ hasRoom = true } = {}) {
  const yielded = new AbortController();
  const waiting = { begin: vi.fn(() => hasRoom), end: vi.fn() };
  const progress = vi.fn();
  const deps: SourceDeps = {
    ...{ assignment, allowSource: "loopback", maxSourceBytes: 1e6, sources, waiting, progress },
    ...{ trace: NO_TRACE, log: silentLog, signal: new AbortController().signal },
    yielding: { requested: yielded.signal, reportSlow: () => undefined },
  };
  const hasBegun = () => vi.waitFor(() => expect(progress.mock.calls.some(([, fraction]) => fraction > 0)).toBe(true));
  return { deps, waiting, hasBegun, yield: () => yielded.abort() };
}

it("gives the slot back while a source goes on to arrive, and has it on disk for the task's next slot", async () => {
  const { url, seen, open } = await gatedHost();
  const first = depsOf();
  const fetching = acquireSource(url, first.deps);
  await first.hasBegun();
  first.yield();
  expect([first.waiting.begin.mock.calls.length, first.waiting.end.mock.calls.length]).toEqual([1, 0]);
  open();
  await expect(fetching).rejects.toMatchObject({ code: "turn_over" });
  expect(first.waiting.end).toHaveBeenCalledTimes(1);
  const held = await acquireSource(url, depsOf().deps);
  expect(await readFile(held.path)).toEqual(BYTES);
  expect(seen).toHaveLength(1);
});

it("leaves a source that can be resumed when too many go on without a slot, and keeps one that cannot", async () => {
  const resumable = await gatedHost({ etag: '"v1"', "accept-ranges": "bytes" });
  const one = depsOf({ hasRoom: false });
  const left = acquireSource(resumable.url, one.deps);
  await one.hasBegun();
  one.yield();
  await expect(left).rejects.toMatchObject({ code: "turn_over" });

  const whole = await gatedHost();
  const other = depsOf({ hasRoom: false });
  const key = { ...other.deps, assignment: { ...assignment, jobId: "BBBBBBBBBBBBBB" as never } };
  const kept = acquireSource(whole.url, key);
  await other.hasBegun();
  other.yield();
  whole.open();
  expect(await readFile((await kept).path)).toEqual(BYTES);
});
