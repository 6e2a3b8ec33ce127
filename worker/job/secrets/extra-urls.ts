// The addresses of watermarks and subtitles: a user, password and query in them are secret, as in that of the source. Pure.
import * as z from "zod";
import { publicUrl } from "#shared/job/metadata.ts";
import type { OutputSpec } from "#shared/job/output-spec.ts";
import type { Task } from "#shared/protocol/protocol.ts";

/** Whole addresses by their place, such as `0.watermark` or `2.subtitles.1`; only those that hold a secret. */
export const ExtraAddresses = z.record(z.string(), z.string());
export type ExtraAddresses = z.infer<typeof ExtraAddresses>;

/** The outputs with addresses as they may be shown, and apart from them the whole ones. */
export function hideAddresses(outputs: readonly OutputSpec[]): { outputs: OutputSpec[]; addresses: ExtraAddresses } {
  const addresses: ExtraAddresses = {};
  const hide = (place: string, url: string): string => {
    const shown = publicUrl(url);
    if (shown !== url) addresses[place] = url;
    return shown;
  };
  return { outputs: outputs.map((spec) => mapAddresses(spec, hide)), addresses };
}

/** A node's task with the whole addresses of what it is to fetch. */
export function withAddresses(task: Task, addresses: ExtraAddresses): Task {
  if (task.kind === "inspect" || task.kind === "sound") return task;
  const whole = (place: string, url: string): string => addresses[place] ?? url;
  return { ...task, outputs: task.outputs.map((spec) => mapAddresses(spec, whole)) };
}

function mapAddresses(spec: OutputSpec, change: (place: string, url: string) => string): OutputSpec {
  if (spec.type === "httpstream") {
    const subtitles = spec.subtitles.map((one, at) => ({
      ...one,
      url: change(`${spec.index}.subtitles.${at}`, one.url),
    }));
    return { ...spec, subtitles };
  }
  const { watermark, index } = spec;
  return watermark ? { ...spec, watermark: { ...watermark, url: change(`${index}.watermark`, watermark.url) } } : spec;
}
