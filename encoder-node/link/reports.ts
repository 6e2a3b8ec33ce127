// Reports that must arrive: written to disk before they are sent, and sent until the control plane has taken them.
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { backoffMs } from "#shared/backoff.ts";
import { assertNever } from "#shared/errors.ts";
import { type LeaseId, parseLeaseId } from "#shared/ids.ts";
import type { Logger } from "#shared/log.ts";
import type { CompleteReport, FailReport } from "#shared/protocol.ts";
import type { ControlPlane } from "./control-plane.ts";

export type Report =
  | { lease: LeaseId; verb: "complete"; body: CompleteReport }
  | { lease: LeaseId; verb: "fail"; body: FailReport };

export interface Reports {
  /** Resolves when the control plane has taken the report, or wants no more of its lease. */
  send(report: Report): Promise<void>;
  /** Sends what an earlier process of this node left behind. */
  resume(): Promise<void>;
}

const RETRY = { firstMs: 250, maxMs: 30_000 };

export function openReports(folder: string, controlPlane: ControlPlane, log: Logger): Reports {
  const fileOf = (report: Report): string => join(folder, `${report.lease}.json`);

  const deliver = async (report: Report): Promise<void> => {
    for (let attempt = 1; ; attempt++) {
      const answer = await controlPlane.post(report.lease, report.verb, report.body);
      switch (answer.kind) {
        case "taken":
          return;
        case "superseded":
          return log.info("The job no longer wants this work", { lease: report.lease });
        case "refused":
          return log.error("The control plane refused a report", { lease: report.lease, answer: answer.message });
        case "unreachable":
          log.warn("Report not delivered, trying again", { lease: report.lease, attempt, error: answer.message });
          await sleep(backoffMs(attempt, RETRY, Math.random));
          break;
        default:
          assertNever(answer);
      }
    }
  };

  return {
    async send(report) {
      await mkdir(folder, { recursive: true });
      const file = fileOf(report);
      await writeFile(`${file}.part`, JSON.stringify(report));
      await rename(`${file}.part`, file);
      await deliver(report);
      await rm(file, { force: true });
    },
    async resume() {
      await mkdir(folder, { recursive: true });
      const names = (await readdir(folder)).filter((name) => name.endsWith(".json"));
      await Promise.all(
        names.map(async (name) => {
          const file = join(folder, name);
          const report: unknown = JSON.parse(await readFile(file, "utf8"));
          if (isReport(report)) await deliver(report);
          await rm(file, { force: true });
        }),
      );
    },
  };
}

/** Whether a spooled file is one of ours; its body was checked when it was made and is checked again by the control plane. */
function isReport(value: unknown): value is Report {
  if (typeof value !== "object" || value === null || !("lease" in value) || !("verb" in value)) return false;
  return (
    typeof value.lease === "string" &&
    parseLeaseId(value.lease) !== null &&
    (value.verb === "complete" || value.verb === "fail")
  );
}
