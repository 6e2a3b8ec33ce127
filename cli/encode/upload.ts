// Uploads a local file to the service. Resumes an upload that an earlier run did not finish.
import { createHash } from "node:crypto";
import { basename, join } from "node:path";
import * as z from "zod";
import type { Copra, Upload } from "../../client/index.ts";
import { fileSource } from "../../client/node.ts";
import { type Env, folderOf } from "../connection/folders.ts";
import { readJsonFile, removeJsonFile, writeJsonFile } from "../connection/private-json.ts";
import type { Target } from "../connection/target.ts";
import type { Source } from "./source.ts";

type FileSource = Extract<Source, { kind: "file" }>;

const UploadState = z.object({ id: z.string(), size: z.number(), mtimeMs: z.number() });

/**
 * A finished upload is used again only if the service keeps it for at least this long, so that a node can still read
 * it.
 */
const REUSE_MS = 2 * 3_600_000;

export type UploadOptions = {
  readonly copra: Copra;
  readonly target: Target;
  readonly env: Env;
  readonly signal: AbortSignal;
  readonly now: () => number;
  /** Called at the start with the number of bytes that are already stored. */
  readonly onStart: (upload: Upload, storedBytes: number) => void;
  /** Called with the number of stored or sent bytes. */
  readonly onProgress: (bytes: number) => void;
};

/**
 * Uploads the file and returns the upload's id. Parts that an earlier run sent of the unchanged file are not sent
 * again.
 */
export async function uploadFile(source: FileSource, options: UploadOptions): Promise<string> {
  const { copra, signal, onStart, onProgress } = options;
  const { path, size, mtimeMs } = source;
  const file = stateFile(source, options);
  const earlier = await findEarlier(source, file, options);
  if (earlier && isComplete(earlier)) {
    onStart(earlier, size);
    return earlier.id;
  }
  const upload = earlier ?? (await copra.uploads.create({ name: basename(path), size }, { signal }));
  writeJsonFile(file, { id: upload.id, size, mtimeMs });
  onStart(
    upload,
    upload.parts.reduce((sum, part) => sum + part.size, 0),
  );
  // Sends a single part at a time, so that an interrupted run loses less than a part.
  const done = await copra.uploads.send(await fileSource(path), {
    id: upload.id,
    signal,
    concurrency: 1,
    onProgress: (_, bytes) => onProgress(bytes),
  });
  return done.id;
}

/** Finds an upload of the same file that the service still has. */
async function findEarlier(
  { size, mtimeMs }: FileSource,
  file: string,
  { copra, signal, now }: UploadOptions,
): Promise<Upload | null> {
  const state = readJsonFile(file, UploadState);
  if (!state || state.size !== size || state.mtimeMs !== mtimeMs) return null;
  try {
    const upload = await copra.uploads.get(state.id, { signal });
    const isKept = !isComplete(upload) || Date.parse(upload.expires_at) - now() > REUSE_MS;
    return isKept && upload.size === size ? upload : null;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof Error && "status" in error && error.status === 404)) throw error;
    removeJsonFile(file);
    return null;
  }
}

const isComplete = ({ status }: Upload): boolean => status === "completed";

/** Path of the state file: each combination of source, service and account has its own. */
function stateFile({ path }: FileSource, { env, target: { url, key } }: UploadOptions): string {
  const name = createHash("sha256")
    .update(JSON.stringify([path, url, key]))
    .digest("hex")
    .slice(0, 32);
  return join(folderOf("state", env), "uploads", `${name}.json`);
}
