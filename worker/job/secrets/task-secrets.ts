// What of a job's sealed secrets is told: to nodes for their tasks, and to clients what the service itself made.
import type { Settings } from "../../env.ts";
import { sourceUrl } from "../../storage/source-url.ts";
import { mayBeChunked } from "../chunks/chunk-plan.ts";
import type { TaskSecrets } from "../node-task.ts";
import type { JobSpec } from "../state/job-state.ts";
import type { ExtraAddresses } from "./extra-urls.ts";
import { openJobSecrets } from "./job-secrets.ts";

/** What a node needs for its task. */
export async function openForTask(
  spec: JobSpec,
  { sealingKeys, scratch }: Settings,
): Promise<TaskSecrets & { addresses: ExtraAddresses }> {
  const { addresses, input, streamKeys: keys } = await openJobSecrets(spec, sealingKeys);
  const streamKeys = new Map(keys.map(({ output, key }) => [output, key]));
  const chunking = mayBeChunked(spec) ? scratch : null;
  return { sourceUrl: await sourceUrl(spec.input, input), streamKeys, chunking, addresses };
}

/** The keys that the service made for the job's streams, by the index of their output. */
export async function madeKeys(spec: JobSpec, { sealingKeys }: Settings): Promise<ReadonlyMap<number, string>> {
  const isEncrypted = spec.outputs.some((output) => output.type === "httpstream" && output.encryption);
  if (!isEncrypted) return new Map();
  const { streamKeys } = await openJobSecrets(spec, sealingKeys);
  return new Map(streamKeys.flatMap(({ output, key, made }) => (made ? [[output, key] as const] : [])));
}
