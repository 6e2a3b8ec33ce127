// The watchdog's thread. It notices that the main thread hangs, reports the lease of the hanging work as failed, and
// ends the process.
import { writeSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { workerData } from "node:worker_threads";
import type { Failure } from "#shared/errors.ts";
import { createLogger } from "#shared/log.ts";
import { LeaseProof } from "#shared/protocol/leases.ts";
import { controlPlaneAt } from "../link/control-plane.ts";
import { openReports } from "../link/reports.ts";
import { CURRENT_LEASE } from "./current-lease.ts";
import type { WatchdogSetup } from "./watchdog.ts";

const { beats, beatMs, limitTicks, url, token, spool } = workerData as WatchdogSetup;

/**
 * V8 answers a debugger at the next loop or call of the running code, even within a regular expression. The answer
 * comes at once, unless the machine is very busy.
 */
const ANSWER_MS = 10_000;
/** A report that is not accepted within this time is sent after the next start. */
const REPORT_MS = 5000;
const END_MS = 1000;
/** Functions of the stack that are logged. */
const MAX_FRAMES = 8;

const HUNG: Failure = {
  code: "node_failed",
  message: "The encoder node stopped responding while it worked on this, and was ended",
};

/** Writes to standard error directly: a thread's `console` writes through the main thread. */
const log = createLogger({ write: (line) => writeSync(2, `${line}\n`), now: Date.now, level: "warn" });

let lastBeat = -1;
let silentTicks = 0;
setInterval(() => {
  const beat = Atomics.load(beats, 0);
  silentTicks = beat === lastBeat ? silentTicks + 1 : 0;
  lastBeat = beat;
  if (silentTicks === limitTicks) void endNode();
}, beatMs);

async function endNode(): Promise<void> {
  const session = new Session();
  try {
    session.connectToMainThread();
    const proof = await withinLimit(currentLease(session), ANSWER_MS);
    if (Atomics.load(beats, 0) !== lastBeat) return session.disconnect();
    const stack = await withinLimit(stackOf(session), ANSWER_MS);
    log.error("main thread hung", {
      silentMs: limitTicks * beatMs,
      lease: proof?.lease ?? null,
      stack: stack ?? "unknown",
    });
    if (proof) await withinLimit(reportHang(proof), REPORT_MS);
    // The main thread ends the process, because the first process of a container cannot kill itself.
    void session.post("Runtime.evaluate", { expression: "process.reallyExit(1)" }).catch(() => undefined);
    await sleep(END_MS);
  } finally {
    // The main thread is inside a call of the operating system.
    if (Atomics.load(beats, 0) === lastBeat) process.kill(process.pid, "SIGKILL");
  }
}

/** The result, or null when it fails or takes longer. */
const withinLimit = <Value>(work: Promise<Value>, limitMs: number): Promise<Value | null> =>
  Promise.race([work.catch(() => null), sleep(limitMs, null)]);

/** Returns the lease for which the hanging code works; null if it works for no lease. */
async function currentLease(session: Session): Promise<LeaseProof | null> {
  const { result } = await session.post("Runtime.evaluate", { expression: CURRENT_LEASE });
  return LeaseProof.nullable().parse(JSON.parse(String(result.value)));
}

/** Stops the hanging code, and returns the functions on its stack. */
async function stackOf(session: Session): Promise<string> {
  const files = new Map<string, string>();
  session.on("Debugger.scriptParsed", ({ params }) => files.set(params.scriptId, params.url));
  const stack = new Promise<string>((resolve) => {
    session.on("Debugger.paused", ({ params }) => {
      const frames = params.callFrames.slice(0, MAX_FRAMES).map(({ functionName, location }) => {
        return `${functionName} (${files.get(location.scriptId)}:${location.lineNumber + 1})`;
      });
      resolve(frames.join(" < "));
    });
  });
  await session.post("Debugger.enable");
  await session.post("Debugger.pause");
  return stack;
}

/**
 * Reports a failure of the work, not a lost lease: the task then goes to at most one further node. A lost task would
 * hang each node that gets it, one after the other.
 */
const reportHang = (proof: LeaseProof): Promise<boolean> =>
  openReports(spool, controlPlaneAt(url, token), log).send({
    lease: proof.lease,
    verb: "fail",
    body: { token: proof.token, failure: HUNG },
  });
