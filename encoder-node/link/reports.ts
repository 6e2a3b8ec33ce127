// Reports that must arrive: written to disk before they are sent, and sent until the control plane has taken them.
import { mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { backoffMs } from "#shared/backoff.ts";
import { assertNever } from "#shared/errors.ts";
import { type LeaseId, parseLeaseId } from "#shared/ids.ts";
import { type Logger, messageOf } from "#shared/log.ts";
import { CompleteReport, FailReport, OutputsReport } from "#shared/protocol/protocol.ts";
import type { ControlPlane } from "./control-plane.ts";

export type Report =
  | { lease: LeaseId; verb: "outputs"; body: OutputsReport }
  | { lease: LeaseId; verb: "complete"; body: CompleteReport }
  | { lease: LeaseId; verb: "fail"; body: FailReport };

export interface Reports {
  /** Resolves when the control plane has taken the report (true), or wants no more of its lease, or refuses it. */
  send(report: Report): Promise<boolean>;
  /** Sends what an earlier process of this node left behind. */
  resume(): Promise<void>;
}

const RETRY = { firstMs: 250, maxMs: 30_000 };

export function openReports(folder: string, controlPlane: ControlPlane, log: Logger): Reports {
  const deliver = delivery(controlPlane, log);
  /** A report that cannot be written is sent all the same: only a crash of this node would lose it. */
  const spooled = async (report: Report): Promise<string | null> => {
    try {
      return await spool(folder, report);
    } catch (error) {
      log.error("Report not written to disk", { lease: report.lease, error: messageOf(error) });
      return null;
    }
  };
  const forget = (file: string): Promise<void> =>
    rm(file, { force: true }).catch((error: unknown) =>
      log.error("Spooled report not removed", { file, error: messageOf(error) }),
    );
  const resumeOne = async (file: string): Promise<void> => {
    const report = await readSpooled(file);
    if (report) await deliver(report);
    else log.error("Spooled report is broken and was removed", { file });
    await forget(file);
  };

  return {
    async send(report) {
      const file = await spooled(report);
      const isTaken = await deliver(report);
      if (file !== null) await forget(file);
      return isTaken;
    },
    async resume() {
      await mkdir(folder, { recursive: true });
      const names = await readdir(folder);
      // Half-written by a process that is gone.
      await Promise.all(names.filter((name) => name.endsWith(".part")).map((name) => forget(join(folder, name))));
      await Promise.all(names.filter((name) => name.endsWith(".json")).map((name) => resumeOne(join(folder, name))));
    },
  };
}

/** Sends a report until the control plane has taken it. A result that it refuses ends the lease as a failure. */
function delivery(controlPlane: ControlPlane, log: Logger): (report: Report) => Promise<boolean> {
  return async function deliver(report): Promise<boolean> {
    const { lease } = report;
    for (let attempt = 1; ; attempt++) {
      const answer = await controlPlane.post(lease, report.verb, report.body);
      switch (answer.kind) {
        case "taken":
          return true;
        case "superseded":
          log.info("The job no longer wants this work", { lease });
          return false;
        case "refused":
          log.error("The control plane refused a report", { lease, answer: answer.message });
          if (report.verb === "complete") await deliver(refusedResult(report));
          return false;
        case "broken":
        case "unreachable":
          log.warn("Report not delivered, trying again", { lease, attempt, error: answer.message });
          await sleep(backoffMs(attempt, RETRY, Math.random));
          break;
        default:
          assertNever(answer);
      }
    }
  };
}

function refusedResult({ lease, body }: Extract<Report, { verb: "complete" }>): Report {
  const message = "The control plane refused the node's report of its result";
  return { lease, verb: "fail", body: { token: body.token, failure: { code: "node_failed", message } } };
}

/** Writes a report to disk, whole or not at all, and answers where. */
async function spool(folder: string, report: Report): Promise<string> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, `${report.lease}.json`);
  const draft = `${path}.part`;
  try {
    await writeSynced(draft, JSON.stringify(report));
    await rename(draft, path);
    return path;
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

async function writeSynced(path: string, text: string): Promise<void> {
  const file = await open(path, "w", 0o600);
  try {
    await file.writeFile(text);
    // Else the name may outlive a power cut and the content not.
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Null when the file holds no report. */
async function readSpooled(file: string): Promise<Report | null> {
  try {
    const report: unknown = JSON.parse(await readFile(file, "utf8"));
    return isReport(report) ? report : null;
  } catch {
    return null;
  }
}

/** Whether a spooled file is one of ours; the control plane checks its body again. */
function isReport(value: unknown): value is Report {
  return SpooledReport.safeParse(value).success;
}

const LeaseIdText = z.string().refine((text) => parseLeaseId(text) !== null);
const SpooledReport = z.discriminatedUnion("verb", [
  z.object({ lease: LeaseIdText, verb: z.literal("outputs"), body: OutputsReport }),
  z.object({ lease: LeaseIdText, verb: z.literal("complete"), body: CompleteReport }),
  z.object({ lease: LeaseIdText, verb: z.literal("fail"), body: FailReport }),
]);
