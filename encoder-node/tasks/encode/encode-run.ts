// Makes prepared outputs: plans, runs and checks them. When a hardware encoder fails, its outputs are encoded in
// software. When a command fails in software, its outputs are encoded individually: only the outputs that cause the
// failure fail.
import type { OutputSpec } from "#shared/job/output-spec.ts";
import type { PlannedCommand, PlannedOutput } from "#shared/plan/outputs/output-plan.ts";
import { planEncode } from "#shared/plan/tasks/plan-encode.ts";
import { mapLimited } from "../../async/in-parallel.ts";
import { checkOutput, type RunResult, withNote } from "../../outputs/check-output.ts";
import type { Encoded } from "../../outputs/deliver-outputs.ts";
import type { EarlyUploads } from "../../outputs/early-uploads.ts";
import type { Prepared } from "../../prepare/prepare.ts";
import type { Publications, Publisher } from "../../publish/publication.ts";
import { writeText } from "../../run-files/open-file.ts";
import { RunFiles } from "../../run-files/run-files.ts";
import { type OnRuns, type RunFailure, runOn } from "../../workspace/run-planned.ts";
import type { TaskDeps } from "../../workspace/task-deps.ts";

/** Outputs that are checked at the same time: a task may have dozens. */
const PARALLEL_CHECKS = 4;

/** Receivers of outputs: some while ffmpeg writes them, all when they are checked. */
export type Receivers = {
  readonly publisher: Publisher;
  readonly uploads: EarlyUploads;
  /** Receives each output once, as soon as it is encoded and checked, or has failed. */
  readonly onEncoded: (outputs: readonly Encoded[]) => void;
};

/** By output: a note that the hardware encoder failed. With any note, no hardware is used. */
type Notes = ReadonlyMap<number, string>;

export class EncodeRun {
  readonly #prepared: Prepared;
  readonly #receivers: Receivers;
  readonly #deps: TaskDeps;

  constructor(prepared: Prepared, receivers: Receivers, deps: TaskDeps) {
    this.#prepared = prepared;
    this.#receivers = receivers;
    this.#deps = deps;
  }

  /** Makes all outputs. Throws when the signal aborts, and AppError `node_failed`. */
  run(): Promise<void> {
    return this.#encode(this.#prepared.outputs, new Map());
  }

  async #encode(outputs: readonly OutputSpec[], notes: Notes): Promise<void> {
    const { capabilities, log, progress } = this.#deps;
    const { commands, failures } = planEncode({
      ...this.#prepared,
      outputs,
      capabilities: notes.size > 0 ? { ...capabilities, hardware: null } : capabilities,
      imagesFirst: true,
      uploadsEarly: true,
    });
    this.#receivers.onEncoded(failures);
    const runs = commands.reduce((sum, command) => sum + countedRuns(command, commands), 0);
    log.debug("encode planned", {
      outputs: outputs.length,
      failures: failures.length,
      commands: commands.length,
      runs,
    });
    let before = 0;
    for (const command of commands) {
      const start = before;
      const counted = countedRuns(command, commands);
      await this.#make(command, notes, (done, rate) =>
        progress("encoding", (start + Math.min(done, counted)) / runs, rate),
      );
      before += counted;
    }
  }

  async #make(command: PlannedCommand, notes: Notes, onProgress: OnRuns): Promise<void> {
    const { signal } = this.#deps;
    const { folder, subtitles, outputs: specs } = this.#prepared;
    // A new folder for each command: files of a failed command must not pass for files of the next command.
    const files = await RunFiles.create(folder);
    const publications = await this.#receivers.publisher.follow(command.outputs, files, subtitles);
    const uploads = this.#receivers.uploads.follow(command.outputs, files);
    const useless = abortedWhenAllBroken(command.outputs, publications);
    const onRuns: OnRuns = (done, rate) => {
      // The last run writes the files.
      uploads.progressed(done - command.runs.length + 1);
      onProgress(done, rate);
    };
    const deps = { ...this.#deps, signal: AbortSignal.any([signal, useless]) };
    const failed = await runOn(this.#prepared, command.runs, files, onRuns, deps);
    signal.throwIfAborted();
    if (!failed || useless.aborted) {
      return this.#keepOrRepeat(command, { specs, files, publications, uploads: uploads.byOutput }, notes);
    }
    await Promise.all([...publications.values(), uploads].map((each) => each.stop()));
    await files.remove();
    return this.#repeat(command, failed, notes);
  }

  /** Encodes the outputs of a failed command in software or individually. An output that failed alone has failed. */
  async #repeat({ outputs }: PlannedCommand, { failure, busy }: RunFailure, notes: Notes): Promise<void> {
    this.#deps.log.warn("ffmpeg failed", { outputs: outputs.length, code: failure.code, error: failure.message });
    const inSoftware = softwareNotes(outputs, busy);
    if (inSoftware.size > 0) return this.#encode(this.#specsOf(outputs), inSoftware);
    if (outputs.length === 1) return this.#receivers.onEncoded(outputs.map(({ output }) => ({ output, failure })));
    for (const output of outputs) await this.#encode(this.#specsOf([output]), notes);
  }

  /** Checks the outputs of a command. Outputs that a hardware encoder made unusable are encoded again in software. */
  async #keepOrRepeat({ outputs }: PlannedCommand, result: RunResult, notes: Notes): Promise<void> {
    for (const { file, text } of outputs.flatMap(({ texts = [] }) => texts)) {
      await writeText(result.files.pathOf(file), text);
    }
    const checked = await mapLimited(outputs, PARALLEL_CHECKS, async (planned) => {
      return { planned, encoded: await checkOutput(planned, result, this.#deps) };
    });
    const failed = checked.flatMap(({ planned, encoded }) => ("failure" in encoded ? [planned] : []));
    const repeated = softwareNotes(failed, false);
    const ended = checked.filter(({ encoded }) => !repeated.has(encoded.output));
    this.#receivers.onEncoded(
      ended.map(({ planned, encoded }) => withNote(withEncoder(encoded, planned), notes.get(encoded.output))),
    );
    const again = failed.filter(({ output }) => repeated.has(output));
    if (again.length > 0) await this.#encode(this.#specsOf(again), repeated);
  }

  #specsOf(planned: readonly PlannedOutput[]): OutputSpec[] {
    return this.#prepared.outputs.filter(({ index }) => planned.some(({ output }) => output === index));
  }
}

/** The runs that count for the progress: images beside videos take negligible time. */
function countedRuns({ runs, outputs }: PlannedCommand, commands: readonly PlannedCommand[]): number {
  const isOfImages = (each: Pick<PlannedCommand, "outputs">): boolean =>
    each.outputs.every(({ encoder, stream }) => encoder === undefined && !stream);
  return isOfImages({ outputs }) && !commands.every(isOfImages) ? 0 : runs.length;
}

/**
 * Aborts when all outputs are streams that cannot be completed, for example because the storage failed: then encoding
 * can stop.
 */
function abortedWhenAllBroken(outputs: readonly PlannedOutput[], publications: Publications): AbortSignal {
  const all = new AbortController();
  const signals = outputs.map(({ output }) => publications.get(output)?.broken);
  const check = (): void => {
    if (signals.every((signal) => signal?.aborted)) all.abort();
  };
  for (const signal of signals) signal?.addEventListener("abort", check);
  return all.signal;
}

/** By output: a note for the client; empty when no output was to be encoded in hardware. */
function softwareNotes(outputs: readonly PlannedOutput[], busy: boolean): Notes {
  const cause = busy ? "was busy" : "failed";
  return new Map(
    outputs
      .filter(({ inHardware }) => inHardware)
      .map(({ output, encoder }) => [output, `Encoded in software, because the hardware encoder ${encoder} ${cause}.`]),
  );
}

const withEncoder = (encoded: Encoded, { encoder }: PlannedOutput): Encoded =>
  "failure" in encoded || encoder === undefined ? encoded : { ...encoded, encoder };
