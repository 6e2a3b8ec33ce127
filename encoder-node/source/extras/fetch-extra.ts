// Brings what an output needs beside the source to this node's disk: small files from addresses of the client.

import { AppError, type ErrorCode, type Failure } from "#shared/errors.ts";
import type { AllowPrivate } from "#shared/network/address-policy.ts";
import { fetchSource } from "../fetch/fetch-source.ts";

export type Extra = {
  readonly url: string;
  /** Where the file goes. */
  readonly path: string;
  /** Begins a sentence: `The watermark`. */
  readonly what: string;
  readonly code: ErrorCode;
  readonly maxBytes: number;
  /** Ends `it is no`, when the check finds something else: AppError `input_not_media`. */
  readonly wanted: string;
};

export type ExtraDeps = { readonly allow: AllowPrivate; readonly signal: AbortSignal };

/** A file, or why it cannot be had. */
export type Fetched = { readonly path: string } | { readonly failure: Failure };

/**
 * Fetches one, and has it looked at by `check`, which throws AppError `input_not_media`, or one in words that go on
 * from `cannot be used: `. Rejects only with the signal's reason, and with `node_failed` for trouble of this machine.
 */
export async function fetchExtra(
  extra: Extra,
  check: (path: string) => Promise<void>,
  { allow, signal }: ExtraDeps,
): Promise<Fetched> {
  const { url, path, what, code, maxBytes } = extra;
  try {
    await fetchSource({ url, destination: path, allow, maxBytes, signal });
    await check(path);
    return { path };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof AppError) || error.code === "node_failed") throw error;
    const host = URL.canParse(url) ? new URL(url).host : "";
    return { failure: { code, message: `${what} from the host \`${host}\` cannot be used: ${reason(error, extra)}.` } };
  }
}

/** What is wrong, in words about an extra: those of the error are about an input. */
function reason({ code, message }: AppError, { maxBytes, wanted }: Extra): string {
  const status = /^input_http_(\d+)$/.exec(code)?.[1];
  if (status) return `the host answered with HTTP ${status}`;
  switch (code) {
    case "input_too_large":
      return `it is larger than ${maxBytes / 1e6} MB`;
    case "input_address_not_allowed":
      return "the address is not a public one";
    case "input_timeout":
    case "input_unreachable":
      return "the host did not answer, or broke off";
    case "input_not_media":
    case "input_codec_not_supported":
      return `it is no ${wanted}`;
    default:
      return message;
  }
}
