// Prints a job as a request: the inverse of parsing, without secrets.

import { assertNever } from "../errors.ts";
import type { OutputSpec } from "../job/output-spec.ts";
import type { Tags } from "../job/tags.ts";
import type { InputSpec } from "./input-section.ts";
import { type NotificationSpec, receiversOf } from "./notification-section.ts";
import { printOutput } from "./outputs/print-output.ts";
import { printInput, printStorage } from "./print-storage.ts";
import type { SettingsSpec } from "./settings-section.ts";
import type { StorageSpec } from "./storage/storage-spec.ts";

type Section = Record<string, unknown>;

/** The request of a job after parsing. */
export type Requested = {
  readonly input: InputSpec;
  readonly storage: StorageSpec;
  readonly outputs: readonly OutputSpec[];
  readonly notification: NotificationSpec;
  readonly moreReceivers?: readonly NotificationSpec[];
  readonly settings: SettingsSpec;
  readonly tags?: Tags;
};

export type PrintedRequest = Readonly<Record<"input" | "storage" | "outputs" | "settings", Section>> & {
  readonly notification: Section | Section[];
  readonly tags?: Tags;
};

/** Returns the body of a request for the same job. Secrets are missing (worker/job/views/request-view.ts). */
export const printRequest = ({ input, storage, outputs, settings, tags, ...receivers }: Requested): PrintedRequest => ({
  input: printInput(input),
  storage: printStorage(storage),
  outputs: printOutputs(outputs),
  notification: receivers.moreReceivers
    ? receiversOf(receivers).map(printNotification)
    : printNotification(receivers.notification),
  settings: printSettings(settings),
  ...(tags === undefined ? {} : { tags }),
});

/**
 * Returns the name of each output in error messages, by its index: `mp4:720p`, or `mp4:720p:2` if there are several.
 */
export function outputNames(outputs: readonly OutputSpec[]): Map<number, string> {
  const byFormat = Map.groupBy(outputs, ({ format }) => format);
  const names = [...byFormat].flatMap(([format, same]) =>
    same.map(({ index }, at): [number, string] => [index, same.length > 1 ? `${format}:${at + 1}` : format]),
  );
  return new Map(names);
}

function printOutputs(outputs: readonly OutputSpec[]): Section {
  const names = outputNames(outputs);
  const byFormat = Map.groupBy(outputs, ({ format }) => format);
  const print = (spec: OutputSpec): Section => printOutput(spec, names.get(spec.index) ?? "");
  const sections = [...byFormat].map(([format, same]) => {
    const printed = same.map(print);
    return [format, printed.length > 1 ? printed : printed[0]] as const;
  });
  return Object.fromEntries(sections);
}

function printNotification(notification: NotificationSpec): Section {
  const { events, metadata } = notification;
  const options = { ...(events ? { events } : {}), ...(metadata ? { metadata } : {}) };
  switch (notification.type) {
    case "http":
      return { type: "http", url: notification.url, ...options };
    case "none":
      return { type: "none", ...options };
    case "sns":
      return { type: "sns", region: notification.region, topic_arn: notification.topicArn, ...options };
    default:
      return assertNever(notification);
  }
}

const printSettings = ({
  startAtMs,
  startWithinMs,
  maxRunMs,
  hop,
  qualityReport,
  ...settings
}: SettingsSpec): Section => ({
  ...settings,
  ...(qualityReport ? { quality_report: true } : {}),
  ...(startAtMs === null ? {} : { start_at: new Date(startAtMs).toISOString() }),
  start_within_s: startWithinMs / 1000,
  ...(maxRunMs === null ? {} : { max_run_s: maxRunMs / 1000 }),
  ...(hop.length === 0 ? {} : { hop: hop.map(printHop) }),
});

const printHop = ({ afterMs, queue, require, priority }: SettingsSpec["hop"][number]): Section => ({
  after_s: afterMs / 1000,
  ...(queue === null ? {} : { queue }),
  ...(require === null ? {} : { require }),
  ...(priority === null ? {} : { priority }),
});
