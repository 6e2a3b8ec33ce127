// Advice about the failure of an input or an output. Pure.
import { type Blame, type ErrorCode, errorTraits, isErrorCode } from "../../../shared/errors.ts";

export type Advice = {
  /** The advice, in a sentence or two. */
  readonly text: string;
  /** True if starting the same job again may help. */
  readonly mayRetry: boolean;
};

/** Advice that the message of an error cannot give. Other messages name the fault to correct. */
const ADVICE: Readonly<Partial<Record<ErrorCode, string>>> = {
  input_too_large: "Ask the operator for nodes with more disk, or use a smaller source.",
  encoding_failed: "Read the end of ffmpeg's output, under Commands.",
  encoder_not_available: "Connect a node whose ffmpeg has this encoder, or choose another codec.",
  storage_unreachable: "Retry the job when the storage is up.",
  node_lost: "The nodes that worked on it disappeared again and again: their machines may lack memory.",
  node_failed: "The log of the node, which the timeline names, has the reason.",
  job_not_started: "Start a node that can do this job, or allow a longer time with `start_within_s`.",
  job_timeout: "Allow a longer time with `max_run_s`.",
};

/** The part of the request to correct, by the party to blame. */
const FAULTY: Readonly<Partial<Record<Blame, string>>> = { source: "source", storage: "storage" };

export function adviceFor(code: string | undefined): Advice {
  const isKnown = code !== undefined && isErrorCode(code);
  const { blame, retry, scope } = errorTraits(isKnown ? code : "internal_error");
  const faulty = blame === "source" && scope === "output" ? "source or the output" : (FAULTY[blame] ?? "request");
  const usual =
    retry === "now" ? "Retry the job: the failure may pass." : `Correct the ${faulty}: Edit and send again.`;
  return { text: (isKnown && ADVICE[code]) || usual, mayRetry: retry === "now" };
}
