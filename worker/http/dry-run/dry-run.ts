// The response of POST /v2/jobs?dry_run=true: the plan of a request for an assumed source. Pure.

import type { DryRunPlan } from "#shared/api/job-responses.ts";
import { assertNever } from "#shared/errors.ts";
import { printFormat } from "#shared/format/print-format.ts";
import type { JobId } from "#shared/ids.ts";
import { clipLength } from "#shared/job/clip.ts";
import { publicUrl } from "#shared/job/metadata.ts";
import { objectName } from "#shared/job/object-name.ts";
import { playlistsOf } from "#shared/job/output-files.ts";
import { type OutputSpec, typeOf } from "#shared/job/output-spec.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import { ALL_SOFTWARE } from "#shared/plan/encoders/software-encoders.ts";
import type { PlannedOutput } from "#shared/plan/outputs/output-plan.ts";
import { chooseTracks, type SourceTracks } from "#shared/plan/source/source-tracks.ts";
import { variantsFor } from "#shared/plan/streams/stream-variants.ts";
import { type EncodePlan, planEncode } from "#shared/plan/tasks/plan-encode.ts";
import { countImageFiles } from "#shared/plan/thumbnails/image-files.ts";
import type { InputSpec } from "#shared/request/input-section.ts";
import { pathConflicts } from "#shared/request/outputs/unique-outputs.ts";
import { isObject } from "#shared/request/parse-section.ts";
import type { StorageSpec } from "#shared/request/storage/storage-spec.ts";
import { isWanted } from "../../job/decide/inspected.ts";
import { publicUrlOf } from "../../storage/open-store.ts";
import { shownSourceUrl } from "../../storage/source-url.ts";
import type { PlannedSource } from "./assumed-source.ts";
import { fileSize, sizeOf, trackRates } from "./expected-sizes.ts";

/** A job request without its secrets. */
export type DryRequest = {
  readonly input: InputSpec;
  readonly storage: StorageSpec;
  readonly outputs: readonly OutputSpec[];
  readonly template?: string;
};

/** The path of the source on a node. */
const SOURCE_PATH = "/source";
/** Replaces the id of the job in URLs that contain it. */
const NO_ID = "00000000000000" as JobId;

/** The plan of a job that is not created. */
export function dryRun(
  { input, storage, outputs, template }: DryRequest,
  { probe, summary }: PlannedSource,
): DryRunPlan {
  const wanted = outputs.filter((spec) => isWanted(spec, probe));
  const { commands, failures } = planWithoutConflicts(wanted, probe);
  const keyOf = (index: number): string => outputs[index]?.key ?? "";
  const planned = new Map(commands.flatMap(({ outputs }) => outputs).map((output) => [output.output, output]));
  const tracks = chooseTracks(probe);
  return {
    dry_run: true,
    assumed_source: summary,
    ...(template === undefined ? {} : { template }),
    input: viewFields({ ...input, url: shownSourceUrl(input) }),
    storage: viewFields(storage),
    outputs: outputs.map((spec) => ({
      ...viewSpec(spec),
      ...urlsOf(spec, storage, probe),
      ...sizesOf(spec, planned.get(spec.index), tracks, summary.duration),
      ...(wanted.includes(spec) ? {} : { skipped: true }),
    })),
    commands: commands.flatMap((command) =>
      command.runs.map(({ argv }) => ({
        outputs: command.outputs.map(({ output }) => keyOf(output)),
        argv: [...argv],
      })),
    ),
    refusals: failures.map(({ output, failure }) => ({
      key: keyOf(output),
      error: failure.message,
      error_code: failure.code,
    })),
  };
}

/** Plans all possible outputs. Gives a reason for each other output: the source, or an earlier output. */
function planWithoutConflicts(wanted: readonly OutputSpec[], probe: MediaProbe): EncodePlan {
  const planOf = (outputs: readonly OutputSpec[]): EncodePlan =>
    planEncode({ source: SOURCE_PATH, probe, outputs, capabilities: ALL_SOFTWARE });
  const plan = planOf(wanted);
  const possible = wanted.filter(({ index }) => !plan.failures.some(({ output }) => output === index));
  const conflicts = pathConflicts(possible);
  if (conflicts.length === 0) return plan;
  const { commands } = planOf(possible.filter(({ index }) => !conflicts.some(({ output }) => output === index)));
  return { ...plan, commands, failures: [...plan.failures, ...conflicts] };
}

function viewSpec(output: OutputSpec) {
  const { index: _index, key, type: _type, format, condition, ...spec } = withoutSecrets(output);
  return {
    key,
    type: typeOf(output),
    format: output.type === "httpstream" ? format : printFormat(output),
    ...("path" in output ? { path: output.path } : {}),
    ...(condition === null ? {} : { condition }),
    spec: viewFields(spec),
  };
}

/** Omits the key of encrypted segments: null would mean automatic. */
function withoutSecrets(output: OutputSpec) {
  if (output.type !== "httpstream" || !output.encryption) return output;
  return { ...output, encryption: { keyUri: output.encryption.keyUri } };
}

const publicObjectUrl = (storage: StorageSpec, object: string): string =>
  publicUrl(publicUrlOf({ id: NO_ID, storage }, object));

/** The URLs of the files of an output. */
function urlsOf(output: OutputSpec, storage: StorageSpec, probe: MediaProbe) {
  const at = (path: string, ordinal = 1): string => publicObjectUrl(storage, objectName(path, ordinal));
  switch (output.type) {
    case "video":
    case "text":
      return { url: at(output.path) };
    case "image": {
      const images = countImageFiles(output, probe)?.files ?? 0;
      const urls = Array.from({ length: images }, (_, index) => at(output.path, index + 1));
      const vtt = output.vtt && at(output.vtt.path);
      return vtt === null ? { urls } : { urls: [...urls, vtt], vtt_url: vtt };
    }
    case "httpstream":
      return {
        urls: playlistsOf(output).map(({ format, path, segments }) => ({
          format,
          url: publicObjectUrl(storage, path),
          segments,
        })),
      };
    default:
      return assertNever(output);
  }
}

/** The expected size of an output, and the renditions of a stream. */
function sizesOf(
  spec: OutputSpec,
  planned: PlannedOutput | undefined,
  source: SourceTracks,
  seconds: number,
): Pick<DryRunPlan["outputs"][number], "renditions" | "expected_size"> {
  if (planned && spec.type === "video") return fileSize(spec, planned, source, seconds);
  const { stream } = planned ?? {};
  const shownSeconds = (clipLength(spec.clip, seconds * 1000) ?? 0) / 1000;
  if (!stream || spec.type !== "httpstream") return {};
  const tracks = new Map(stream.tracks.map((track) => [track.name, track]));
  const chosen = variantsFor(spec, source);
  const rates = trackRates(chosen, stream);
  const inHls = spec.hls?.segments === "fmp4" ? "fmp4" : "ts";
  const renditions = stream.variants.map(({ video, audio }, at) => {
    const members = [video, audio].flatMap((name) => (name === null ? [] : (tracks.get(name) ?? [])));
    const videoTrack = members.flatMap((track) => track.video ?? [])[0];
    const packages = [
      ...(spec.hls && members.every((track) => track[inHls] !== null) ? ["hls" as const] : []),
      ...(spec.dash ? ["dash" as const] : []),
    ];
    return {
      video,
      audio,
      ...(videoTrack ? { ...videoTrack.frame, fps: videoTrack.fps } : {}),
      packages,
      variant: chosen.variants[at]?.requested ?? at,
      ...sizeOf(
        members.flatMap(({ name }) => rates.get(name) ?? []),
        shownSeconds,
      ),
    };
  });
  return { renditions, ...sizeOf([...rates.values()].flat(), shownSeconds) };
}

/** A specification with the field names of the API. Its URLs have no user, password and query. */
const viewFields = (spec: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(spec).map(([name, value]) => [snakeCase(name), viewValue(value)]));

function viewValue(value: unknown): unknown {
  if (typeof value === "string") return /^https?:/i.test(value) ? publicUrl(value) : value;
  if (Array.isArray(value)) return value.map(viewValue);
  return isObject(value) ? viewFields(value) : value;
}

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
