// Reports, delivered at least once: written to the spool first, and sent until the control plane accepts them.
import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { backoffMs } from "#shared/backoff.ts";
import { assertNever } from "#shared/errors.ts";
import type { LeaseId } from "#shared/ids.ts";
import { type Logger, messageOf } from "#shared/log.ts";
import type { FreedSlots } from "#shared/protocol/frames.ts";
import type { LeaseProof } from "#shared/protocol/leases.ts";
import { LeaseReport } from "#shared/protocol/reports.ts";
import type { ControlPlane } from "./control-plane.ts";
import { isLeaseFile, leaseFilesIn, readLeaseFile, writeLeaseFile } from "./lease-files.ts";

export type Report = LeaseReport;

/** The slot that a task gives back with its last report, if that report is sent by the socket. */
export interface SlotReturn {
  /** Gives the slot back as the report is sent. */
  freed(): FreedSlots;
  /** Called when the hub knows that the slot is free. */
  acknowledged(): void;
}

/** Sends a report by the socket. Resolves to true if it was accepted, false if not, null when that is unknown. */
export type SendBySocket = (report: Report, slot?: SlotReturn) => Promise<boolean | null>;

export interface Reports {
  /**
   * Resolves to true when the control plane has accepted the report, to false when it rejected it or ended its lease.
   */
  send(report: Report, slot?: SlotReturn): Promise<boolean>;
  /**
   * Sends the reports that an earlier process of this node did not deliver. `held`: leases of that process. Leases
   * without a last report are reported as lost. `ended` is called for each lease whose job has received its end.
   */
  resume(held?: readonly LeaseProof[], ended?: (lease: LeaseId) => void): Promise<void>;
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
  let parts = 0;
  /**
   * A report that cannot be written is still sent: only a crash of this node would lose it. Outputs of a lease may be
   * reported at the same time, each in its own file.
   */
  const trySpool = async (report: Report): Promise<string | null> => {
    try {
      return await writeLeaseFile(folder, report.lease, report, report.verb === "outputs" ? ++parts : null);
    } catch (error) {
      log.error("report not spooled", { lease: report.lease, error: messageOf(error) });
      return null;
    }
  };
  const remove = (file: string): Promise<void> =>
    rm(file, { force: true }).catch((error: unknown) =>
      log.error("spooled report not removed", { file, error: messageOf(error) }),
    );
  const send: Reports["send"] = async (report, slot) => {
    const file = await trySpool(report);
    const isAccepted = await deliver(report, slot);
    if (file !== null) await remove(file);
    return isAccepted;
  };
  const resumeOne = async (file: string): Promise<Report | null> => {
    const report = await readSpooled(file);
    if (report) await deliver(report);
    else log.error("invalid spooled report removed", { file });
    await remove(file);
    return report;
  };

  return {
    send,
    async resume(held = [], ended = () => undefined) {
      const files = await leaseFilesIn(folder);
      const resumed = files.map((file) => ({ file, report: resumeOne(file) }));
      const endOne = async (proof: LeaseProof): Promise<void> => {
        // The lease stays valid until its outputs are reported. After a task's last report, it needs no lost report.
        const leaseFiles = resumed.filter(({ file }) => isLeaseFile(file, proof.lease));
        const reports = await Promise.all(leaseFiles.map(({ report }) => report));
        if (reports.every((report) => !report || report.verb === "outputs")) await send(lostReport(proof));
        ended(proof.lease);
      };
      await Promise.all([...resumed.map(({ report }) => report), ...held.map(endOne)]);
    },
  };
}

/** Sends a report until the control plane accepts or rejects it. A rejected result ends the lease as a failure. */
function createDelivery(
  controlPlane: ControlPlane,
  log: Logger,
  sendBySocket: SendBySocket,
): (report: Report, slot?: SlotReturn) => Promise<boolean> {
  return async function deliver(report, slot): Promise<boolean> {
    const { lease, verb } = report;
    const isAccepted = await sendBySocket(report, slot);
    if (isAccepted !== null) log.debug("report accepted", { lease, verb, isAccepted });
    if (isAccepted === false) log.info("report superseded", { lease, verb });
    if (isAccepted !== null) return isAccepted;
    for (let attempt = 1; ; attempt++) {
      const result = await controlPlane.post(lease, verb, report.body);
      log.debug("report sent", { lease, verb, attempt, result: result.kind });
      switch (result.kind) {
        case "accepted":
          return true;
        case "superseded":
          log.info("report superseded", { lease, verb });
          return false;
        case "rejected":
          log.error("report rejected", { lease, verb, response: result.message });
          if (verb === "complete") await deliver(rejectedResult(report), undefined);
          return false;
        case "internal-error":
        case "unreachable":
          log.warn("report not delivered", { lease, verb, attempt, error: result.message });
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

/** Only checks the value: parsing would drop the members of probes that this version does not know. */
const isReport = (value: unknown): value is Report => LeaseReport.safeParse(value).success;

/** Null when the file holds no valid report. */
async function readSpooled(file: string): Promise<Report | null> {
  const value = await readLeaseFile(file);
  return isReport(value) ? value : null;
}

/** A lease ended together with the process that worked on it. */
function lostReport({ lease, token }: LeaseProof): Report {
  const message = "The process of the encoder node that worked on this has ended";
  return { lease, verb: "fail", body: { token, failure: { code: "node_lost", message }, hasCrashed: true } };
}
