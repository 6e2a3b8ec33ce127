// What POST /v2/jobs?dry_run=true answers: what would be made of a request for an assumed source. Pure.
import { assertNever } from "#shared/errors.ts";
import { printFormat } from "#shared/format/print-format.ts";
import type { JobId } from "#shared/ids.ts";
import { publicUrl } from "#shared/job/metadata.ts";
import { objectName } from "#shared/job/object-name.ts";
import { playlistsOf } from "#shared/job/output-files.ts";
import type { OutputSpec } from "#shared/job/output-spec.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import { ALL_SOFTWARE } from "#shared/plan/command/capabilities.ts";
import { type EncodePlan, planEncode } from "#shared/plan/plan-encode.ts";
import type { PlannedStream } from "#shared/plan/streams/planned-stream.ts";
import { imageFiles } from "#shared/plan/thumbnails/image-files.ts";
import type { InputSpec } from "#shared/request/input-section.ts";
import { pathClashes } from "#shared/request/outputs/unique-outputs.ts";
import { isObject } from "#shared/request/parse-section.ts";
import type { StorageSpec } from "#shared/request/storage/storage-spec.ts";
import { isWanted } from "../../job/decide/inspected.ts";
import { publicUrlOf } from "../../storage/object-store.ts";
import { shownSourceUrl } from "../../storage/source-url.ts";
import type { DryRunPlan, Rendition } from "../response-schemas.ts";
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
  const { commands, refusals } = planWithoutClashes(wanted, probe);
  const keyOf = (index: number): string => outputs[index]?.key ?? "";
  const planned = new Map(commands.flatMap(({ outputs }) => outputs).map((output) => [output.output, output]));
  return {
    dry_run: true,
    assumed_source: source,
    input: shown({ ...input, url: shownSourceUrl(input) }),
    storage: shown(storage),
    outputs: outputs.map((spec) => ({
      ...viewSpec(spec),
      ...addressesOf(spec, storage, probe),
      ...renditionsOf(planned.get(spec.index)?.stream),
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

/** The plan of all outputs that can be made, and why the others cannot: for the source, or for one before them. */
function planWithoutClashes(wanted: readonly OutputSpec[], probe: MediaProbe): EncodePlan {
  const planOf = (outputs: readonly OutputSpec[]): EncodePlan =>
    planEncode({ source: SOURCE_PATH, probe, outputs, can: ALL_SOFTWARE });
  const plan = planOf(wanted);
  const possible = wanted.filter(({ index }) => !plan.refusals.some(({ output }) => output === index));
  const clashes = pathClashes(possible);
  if (clashes.length === 0) return plan;
  const { commands } = planOf(possible.filter(({ index }) => !clashes.some(({ output }) => output === index)));
  return { ...plan, commands, refusals: [...plan.refusals, ...clashes] };
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

/** The key of encrypted segments is never shown: that it is null here says where it is kept, not that it is automatic. */
function withoutSecrets(output: OutputSpec) {
  if (output.type !== "httpstream" || !output.encryption) return output;
  return { ...output, encryption: { keyUri: output.encryption.keyUri } };
}

const publicAddress = (storage: StorageSpec, object: string): string =>
  publicUrl(publicUrlOf({ id: NO_ID, storage }, object));

/** Where the output's files would lie. */
function addressesOf(output: OutputSpec, storage: StorageSpec, probe: MediaProbe) {
  const at = (path: string, ordinal = 1): string => publicAddress(storage, objectName(path, ordinal));
  switch (output.type) {
    case "video":
      return { url: at(output.path) };
    case "image": {
      const images = imageFiles(output, probe)?.images ?? 0;
      const urls = Array.from({ length: images }, (_, index) => at(output.path, index + 1));
      return { urls: [...urls, ...(output.vtt ? [at(output.vtt.path)] : [])] };
    }
    case "httpstream":
      return { urls: playlistsOf(output).map(({ format, path }) => ({ format, url: publicAddress(storage, path) })) };
    default:
      return assertNever(output);
  }
}

function renditionsOf(stream: PlannedStream | undefined): { renditions?: Rendition[] } {
  if (!stream) return {};
  const tracks = new Map(stream.tracks.map((track) => [track.name, track]));
  const renditions = stream.variants.map(({ video, audio }) => {
    const parts = [video, audio].flatMap((name) => (name === null ? [] : (tracks.get(name) ?? [])));
    const picture = parts.flatMap((track) => track.picture ?? [])[0];
    const packages = [
      ...(parts.every(({ ts }) => ts !== null) ? ["hls" as const] : []),
      ...(parts.every(({ fmp4 }) => fmp4 !== null) ? ["dash" as const] : []),
    ];
    return { video, audio, ...(picture ? { ...picture.frame, fps: picture.fps } : {}), packages };
  });
  return { renditions };
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
