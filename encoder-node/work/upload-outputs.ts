// Brings finished files into the client's storage by signed requests.
import { AppError, type Failure } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import type { OutputReport, UploadedFile, UploadTicket } from "#shared/protocol.ts";
import type { Publication } from "../publish/publication.ts";
import { askTicket } from "../upload/ask-ticket.ts";
import { fileContent } from "../upload/content.ts";
import { uploadContent } from "../upload/upload.ts";
import type { MadeOutput } from "./check-output.ts";
import type { MadeFile } from "./result-check.ts";
import type { TaskDeps } from "./task-deps.ts";
import { type Meter, uploadMeter } from "./upload-meter.ts";

/** Files for which uploads are asked at a time (UploadsRequest allows no more). */
const BATCH = 200;
/** Files that are sent at a time; each may have several parts under way. */
const PARALLEL = 4;

type FileToSend = MadeFile & { output: number; file: number };

/** Uploads all files; an output whose files cannot be stored has failed. Streams, which have a head start, come last. */
export async function uploadOutputs(made: readonly MadeOutput[], deps: TaskDeps): Promise<OutputReport[]> {
  const files = made.flatMap(({ output, files }) => files.map((file, index) => ({ ...file, output, file: index + 1 })));
  const waiting = made.map(({ publication }) => publication?.waitingBytes() ?? 0);
  const totalBytes = [...waiting, ...files.map(({ sizeBytes }) => sizeBytes)].reduce((sum, bytes) => sum + bytes, 0);
  const meter = uploadMeter(totalBytes, deps);
  const sent = new Map<number, UploadedFile[]>();
  const failures = new Map<number, Failure>();
  for (let start = 0; start < files.length; start += BATCH) {
    const batch = files.slice(start, start + BATCH).filter(({ output }) => !failures.has(output));
    await sendBatch(batch, deps, meter, sent, failures);
  }
  const reports: OutputReport[] = [];
  for (const each of made) {
    const { output, publication, probe } = each;
    const failure = failures.get(output);
    if (publication) reports.push(await publishedReport(each, publication, meter));
    else if (failure) reports.push({ status: "failed", output, failure });
    else reports.push({ status: "made", output, files: sent.get(output) ?? [], probe, ...described(each) });
  }
  return reports;
}

async function publishedReport(made: MadeOutput, publication: Publication, meter: Meter): Promise<OutputReport> {
  const { output } = made;
  const result = await publication.finish((bytes) => meter(publication, bytes));
  if ("failure" in result) return { status: "failed", output, failure: result.failure };
  return { status: "made", output, probe: null, ...result, ...described(made) };
}

const described = ({ encoder, note }: MadeOutput): Pick<MadeOutput, "encoder" | "note"> => ({
  ...(encoder ? { encoder } : {}),
  ...(note ? { note } : {}),
});

async function sendBatch(
  batch: readonly FileToSend[],
  deps: TaskDeps,
  meter: Meter,
  sent: Map<number, UploadedFile[]>,
  failures: Map<number, Failure>,
): Promise<void> {
  if (batch.length === 0) return;
  const answer = await deps.askUploads(batch.map(({ output, file, sizeBytes }) => ({ output, file, sizeBytes })));
  if ("failure" in answer) {
    for (const { output } of batch) failures.set(output, answer.failure);
    return;
  }
  const queue = [...batch];
  const worker = async (): Promise<void> => {
    for (let file = queue.shift(); file; file = queue.shift()) {
      if (failures.has(file.output)) continue;
      try {
        const uploaded = await sendFile(file, answer.uploads, deps, meter);
        sent.set(file.output, [...(sent.get(file.output) ?? []), uploaded]);
      } catch (error) {
        deps.signal.throwIfAborted();
        failures.set(file.output, failureOf(error));
      }
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
}

async function sendFile(
  file: FileToSend,
  tickets: readonly UploadTicket[],
  deps: TaskDeps,
  meter: Meter,
): Promise<UploadedFile> {
  const { output, path, sizeBytes: announced } = file;
  const ticket = tickets.find((candidate) => candidate.output === output && candidate.file === file.file);
  if (!ticket) throw new AppError("storage_unreachable", "The control plane signed no upload for a file");
  const { etags, sizeBytes } = await uploadContent({
    content: await fileContent(path),
    ticket,
    renew: () => askTicket({ output, file: file.file, sizeBytes: announced }, deps.askUploads),
    agent: deps.storages,
    signal: deps.signal,
    onProgress: (bytes) => meter(file, bytes),
  });
  return { output, file: file.file, sizeBytes, etags };
}

const failureOf = (error: unknown): Failure =>
  error instanceof AppError
    ? { code: error.code, message: error.message }
    : { code: "storage_unreachable", message: `The upload failed: ${messageOf(error)}` };
