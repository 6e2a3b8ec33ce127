// Builds the body of a new job from the options of `encode` and `plan`.
import { existsSync } from "node:fs";
import * as z from "zod";
import type { JobRequest } from "../../client/index.ts";
import type { LocalStack } from "../connection/target.ts";
import type { Options } from "../context.ts";
import { listOption, pairsOption, textOption } from "../context.ts";
import { usageError } from "../exit.ts";
import { readText } from "../read-json.ts";
import { folderSection, isFolderFile } from "./folder-file.ts";
import { outputsOf } from "./output-request.ts";

const Section = z.record(z.string(), z.unknown());
/** A job in a file. The service checks its sections. */
const JobFile = z.object({
  input: Section.optional(),
  storage: Section.optional(),
  outputs: Section.optional(),
  notification: z.union([Section, z.array(Section)]).optional(),
  settings: Section.optional(),
  tags: Section.optional(),
});
export type JobFile = z.infer<typeof JobFile>;

/** Reads a JSON file, or standard input for `-`. Throws a usage error that names the file. */
export function readJsonOption<Value>(path: string, schema: z.ZodType<Value>, what: string): Value {
  const text = readText(path);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw usageError(`${path} is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw usageError(`${path} must be ${what}`);
  return parsed.data;
}

export type BuildOptions = {
  readonly options: Options;
  /** Name of the source, used in paths of outputs. */
  readonly name: string;
  /** The local system of this machine, if it is the target. */
  readonly local: LocalStack | null;
  /**
   * A new folder in the local system's bucket, with a trailing slash. A folder per job prevents jobs from overwriting
   * each other.
   */
  readonly folder: string;
};

/** A job without its input, or a template with its variables. */
type Sections = JobFile & { readonly template?: string; readonly vars?: Readonly<Record<string, string>> };

/** Local files drop `prefix` from the paths of outputs. */
export type BuiltJob = { readonly sections: Sections; readonly prefix: string; readonly clip?: ClipTexts };

/** Members of `input` by the options `--start` and `--end`. The service accepts text for numbers. */
type ClipTexts = { readonly start?: string; readonly end?: string };

function clipOf(options: Options): ClipTexts {
  const [start, end] = [textOption(options, "start"), textOption(options, "end")];
  return { ...(start === undefined ? {} : { start }), ...(end === undefined ? {} : { end }) };
}

/** Throws a usage error if the job has no outputs or a file is not valid. */
export function buildJob({ options, name, local, folder }: BuildOptions): BuiltJob {
  const file = textOption(options, "file");
  const job: JobFile = file === undefined ? {} : readJsonOption(file, JobFile, "a job: an object with sections");
  const storageFile = textOption(options, "storage");
  const ownStorage = storageFile === undefined ? job.storage : storageOf(storageFile);
  const formats = listOption(options, "to");
  const template = textOption(options, "template");
  if (template === undefined && formats.length === 0 && !job.outputs) {
    throw usageError("Name the outputs with --to, such as --to mp4:720p --to hls, or give a job with -f or --template");
  }
  const prefix = template === undefined && ownStorage === undefined && local !== null && !job.outputs ? folder : "";
  const base = `${prefix}${textOption(options, "name") ?? name}`;
  const ofStreams = {
    variants: listOption(options, "variant"),
    dropsSimilar: options.dropSimilarVariants === true,
    subtitles: listOption(options, "subtitles"),
    audio: listOption(options, "audio"),
    burn: textOption(options, "burn"),
    overlays: listOption(options, "overlay"),
  };
  const outputs = { ...job.outputs, ...outputsOf(formats, base, ofStreams) };
  const notify = textOption(options, "notify");
  const receiver = Array.isArray(job.notification) ? {} : job.notification;
  const notification = notify === undefined ? job.notification : { ...receiver, type: "http", url: notify };
  const settings = settingsOf(options, job);
  const tags = tagsOf(options, job);
  const vars = varsOf(options, template);
  const clip = clipOf(options);
  if (template !== undefined) {
    // The service takes the other sections from the template.
    const ownSections = { ...job, storage: ownStorage, notification, settings, tags };
    const sections = { ...ownSections, ...(Object.keys(outputs).length > 0 ? { outputs } : {}), template, vars };
    return { prefix, clip, sections: withoutUndefined(sections) };
  }
  return {
    prefix,
    clip,
    sections: {
      ...(job.input ? { input: job.input } : {}),
      storage: ownStorage ?? (local ? localStorage(local) : { service: "coconut" }),
      outputs,
      notification: notification ?? { type: "none" },
      ...(settings ? { settings } : {}),
      ...(tags ? { tags } : {}),
    },
  };
}

/**
 * A saved storage by its name, a folder of the nodes, or the storage in a file. Names of saved storages that are paths
 * stay files.
 */
function storageOf(text: string): Record<string, unknown> {
  if (isFolderFile(text)) return folderSection(text, false);
  return /^[A-Za-z0-9][\w-]{0,63}$/.test(text) && !existsSync(text)
    ? { use: text }
    : readJsonOption(text, Section, "a storage: an object");
}

const withoutUndefined = <Value extends object>(value: Value): Value =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Value;

/** The variables of `--var name=value`. The service accepts text for numbers and booleans. */
function varsOf(options: Options, template: string | undefined): Record<string, string> {
  const vars = pairsOption(options, "var");
  if (vars && template === undefined) throw usageError("--var needs --template");
  return vars ?? {};
}

/** Merges the tags of the file and of the options. Returns undefined if there are none. */
function tagsOf(options: Options, { tags }: JobFile): JobFile["tags"] {
  const chosen = pairsOption(options, "tag");
  return chosen ? { ...tags, ...chosen } : tags;
}

/** Merges the settings of the file and of the options. Returns undefined if there are none. */
function settingsOf(options: Options, { settings }: JobFile): JobFile["settings"] {
  const queue = textOption(options, "queue");
  const priority = textOption(options, "priority");
  const startAt = textOption(options, "startAt");
  const require = listOption(options, "require");
  const chosen = {
    ...(options.ultrafast === true ? { ultrafast: true } : {}),
    ...(options.qualityReport === true ? { quality_report: true } : {}),
    ...(queue === undefined ? {} : { queue }),
    ...(require.length === 0 ? {} : { require }),
    ...(priority === undefined ? {} : { priority }),
    ...(startAt === undefined ? {} : { start_at: startAt }),
  };
  return Object.keys(chosen).length > 0 ? { ...settings, ...chosen } : settings;
}

const localStorage = ({ s3 }: LocalStack): Record<string, unknown> => ({
  service: "s3other",
  endpoint: s3.endpoint,
  region: s3.region,
  bucket: s3.bucket,
  force_path_style: true,
  credentials: { access_key_id: s3.accessKeyId, secret_access_key: s3.secretAccessKey },
});

/** Returns the whole request. The cast is safe: people wrote parts of the request, and the service validates it. */
export function withInput({ sections, clip }: BuiltJob, input: object): JobRequest {
  const clipped: object = { ...input, ...clip };
  return { ...sections, input: clipped } as JobRequest;
}

/** The `input` of a file before its upload: plans do not depend on the location of the source. */
export const UPLOADED_LATER = { url: "https://source.example.com/source" };

/** Returns a name such as `copra-20261122T101500-k3f9/`. */
export const newFolder = (nowMs: number, random: () => number = Math.random): string =>
  `copra-${new Date(nowMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}-${random().toString(36).slice(2, 6).padEnd(4, "0")}/`;
