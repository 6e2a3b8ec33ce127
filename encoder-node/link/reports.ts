// Reports, delivered at least once: written to the spool first, and sent until the control plane accepts them.
import { mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { backoffMs } from "#shared/backoff.ts";
import { assertNever } from "#shared/errors.ts";
import { type Logger, messageOf } from "#shared/log.ts";
import { LeaseReport } from "#shared/protocol/reports.ts";
import type { ControlPlane } from "./control-plane.ts";

export type Report = LeaseReport;

/** Sends a report by the socket: whether it was accepted; null when that is not known. */
export type SendBySocket = (report: Report) => Promise<boolean | null>;

export interface Reports {
  /** Resolves when the control plane has accepted the report (true), or has rejected it or ended its lease (false). */
  send(report: Report): Promise<boolean>;
  /** Sends the reports that an earlier process of this node did not deliver. */
  resume(): Promise<void>;
}

const RETRY = { firstMs: 250, maxMs: 30_000 };

/** `folder` is the spool. A report is sent by the socket first; HTTP always works. */
export function openReports(
  folder: string,
  controlPlane: ControlPlane,
  log: Logger,
  sendBySocket: SendBySocket = async () => null,
): Reports {
  const deliver = createDelivery(controlPlane, log, sendBySocket);
  /** A report that cannot be written is still sent: only a crash of this node would lose it. */
  const trySpool = async (report: Report): Promise<string | null> => {
    try {
      return await spool(folder, report);
    } catch (error) {
      log.error("Report not spooled", { lease: report.lease, error: messageOf(error) });
      return null;
    }
  };
  const remove = (file: string): Promise<void> =>
    rm(file, { force: true }).catch((error: unknown) =>
      log.error("Spooled report not removed", { file, error: messageOf(error) }),
    );
  const resumeOne = async (file: string): Promise<void> => {
    const report = await readSpooled(file);
    if (report) await deliver(report);
    else log.error("Spooled report invalid, removed", { file });
    await remove(file);
  };

  return {
    async send(report) {
      const file = await trySpool(report);
      const isAccepted = await deliver(report);
      if (file !== null) await remove(file);
      return isAccepted;
    },
    async resume() {
      await mkdir(folder, { recursive: true });
      const names = await readdir(folder);
      // Partly written by a process that has ended.
      await Promise.all(names.filter((name) => name.endsWith(".part")).map((name) => remove(join(folder, name))));
      await Promise.all(names.filter((name) => name.endsWith(".json")).map((name) => resumeOne(join(folder, name))));
    },
  };
}

/**
 * Sends a report until the control plane accepts or rejects it. A result that is rejected ends the lease as a failure.
 */
function createDelivery(
  controlPlane: ControlPlane,
  log: Logger,
  sendBySocket: SendBySocket,
): (report: Report) => Promise<boolean> {
  return async function deliver(report): Promise<boolean> {
    const { lease, verb } = report;
    const isAccepted = await sendBySocket(report);
    if (isAccepted !== null) log.debug("Report acknowledged", { lease, verb, isAccepted });
    if (isAccepted === false) log.info("Report ignored, lease superseded", { lease, verb });
    if (isAccepted !== null) return isAccepted;
    for (let attempt = 1; ; attempt++) {
      const result = await controlPlane.post(lease, verb, report.body);
      log.debug("Report sent", { lease, verb, attempt, result: result.kind });
      switch (result.kind) {
        case "accepted":
          return true;
        case "superseded":
          log.info("Report ignored, lease superseded", { lease, verb });
          return false;
        case "rejected":
          log.error("Report rejected by the control plane", { lease, verb, response: result.message });
          if (verb === "complete") await deliver(rejectedResult(report));
          return false;
        case "internal-error":
        case "unreachable":
          log.warn("Report not delivered, retrying", { lease, verb, attempt, error: result.message });
          await sleep(backoffMs(attempt, RETRY, Math.random));
          break;
        default:
          assertNever(result);
      }
    }
  };
}

function rejectedResult({ lease, body }: Extract<Report, { verb: "complete" }>): Report {
  const message = "The control plane rejected the node's report of its result";
  return { lease, verb: "fail", body: { token: body.token, failure: { code: "node_failed", message } } };
}

/** Writes a report to disk atomically, and returns its path. */
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
    // Without this the name may survive a power failure and the content not.
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Only checks the value: parsing would drop the members of probes that this version does not know. */
const isReport = (value: unknown): value is Report => LeaseReport.safeParse(value).success;

/** Null when the file holds no valid report. */
async function readSpooled(file: string): Promise<Report | null> {
  try {
    const value: unknown = JSON.parse(await readFile(file, "utf8"));
    return isReport(value) ? value : null;
  } catch {
    return null;
  }
}
