// What POST /v2/jobs?dry_run=true answers: what would be made of a request for an assumed source. Pure.
import { assertNever } from "#shared/errors.ts";
import { printFormat } from "#shared/format/print-format.ts";
import type { JobId } from "#shared/ids.ts";
import type { MediaProbe } from "#shared/media-probe.ts";
import { publicUrl } from "#shared/metadata.ts";
import { objectName } from "#shared/object-name.ts";
import { playlistsOf } from "#shared/output-files.ts";
import type { OutputSpec } from "#shared/output-spec.ts";
import { ALL_SOFTWARE } from "#shared/plan/can.ts";
import { imageFiles } from "#shared/plan/image-files.ts";
import { planEncode } from "#shared/plan/plan-encode.ts";
import type { InputSpec } from "#shared/request/input-section.ts";
import { isObject } from "#shared/request/parse-section.ts";
import type { StorageSpec } from "#shared/request/storage-spec.ts";
import { isWanted } from "../job/reports.ts";
import { publicUrlOf } from "../storage/object-store.ts";
import { shownSourceUrl } from "../storage/source-url.ts";
import type { DryRunPlan } from "./answers.ts";
import { type AssumedSource, probeOf } from "./assumed-source.ts";

/** A request as it would begin a job, without its secrets. */
export type DryRequest = {
  readonly input: InputSpec;
  readonly storage: StorageSpec;
  readonly outputs: readonly OutputSpec[];
};

/** Where the source would lie on a node. */
const SOURCE_PATH = "/source";
/** Stands for the job's id in addresses that hold it. */
const NO_ID = "00000000000000" as JobId;

/** The plan of a job that is not begun. */
export function dryRun({ input, storage, outputs }: DryRequest, source: AssumedSource): DryRunPlan {
  const probe = probeOf(source);
  const wanted = outputs.filter((spec) => isWanted(spec, probe));
  const { commands, refusals } = planEncode({ source: SOURCE_PATH, probe, outputs: wanted, can: ALL_SOFTWARE });
  const keyOf = (index: number): string => outputs[index]?.key ?? "";
  return {
    dry_run: true,
    assumed_source: source,
    input: shown({ ...input, url: shownSourceUrl(input) }),
    storage: shown(storage),
    outputs: outputs.map((spec) => ({
      ...viewSpec(spec),
      ...addressesOf(spec, storage, probe),
      ...(wanted.includes(spec) ? {} : { skipped: true }),
    })),
    commands: commands.flatMap((command) =>
      command.runs.map(({ argv }) => ({
        outputs: command.outputs.map(({ output }) => keyOf(output)),
        argv: [...argv],
      })),
    ),
    refusals: refusals.map(({ output, failure }) => ({
      key: keyOf(output),
      error: failure.message,
      error_code: failure.code,
    })),
  };
}

function viewSpec(output: OutputSpec) {
  const { index: _index, key, type, format, condition, ...spec } = withoutSecrets(output);
  return {
    key,
    type,
    format: output.type === "httpstream" ? format : printFormat(output),
    ...("path" in output ? { path: output.path } : {}),
    ...(condition === null ? {} : { condition }),
    spec: shown(spec),
  };
}

/** The key of encrypted segments is for players alone. */
function withoutSecrets(output: OutputSpec) {
  if (output.type !== "httpstream" || !output.encryption) return output;
  return { ...output, encryption: { keyUri: output.encryption.keyUri } };
}

/** Where the output's files would lie. */
function addressesOf(output: OutputSpec, storage: StorageSpec, probe: MediaProbe) {
  const at = (path: string, ordinal = 1): string =>
    publicUrl(publicUrlOf({ id: NO_ID, storage }, objectName(path, ordinal)));
  switch (output.type) {
    case "video":
      return { url: at(output.path) };
    case "image": {
      const images = imageFiles(output, probe)?.images ?? 0;
      const urls = Array.from({ length: images }, (_, index) => at(output.path, index + 1));
      return { urls: [...urls, ...(output.vtt ? [at(output.vtt.path)] : [])] };
    }
    case "httpstream":
      return { urls: playlistsOf(output).map(({ format, path }) => ({ format, url: at(path) })) };
    default:
      return assertNever(output);
  }
}

/** A specification in the API's spelling, its addresses without user, password and query. */
const shown = (spec: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(spec).map(([name, value]) => [snakeCase(name), shownValue(value)]));

function shownValue(value: unknown): unknown {
  if (typeof value === "string") return /^https?:/i.test(value) ? publicUrl(value) : value;
  if (Array.isArray(value)) return value.map(shownValue);
  return isObject(value) ? shown(value) : value;
}

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
