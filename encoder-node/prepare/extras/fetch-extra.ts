// Fetches a small file that an output needs besides the source, from a URL of the client.
import { AppError, type ErrorCode } from "#shared/errors.ts";
import type { AllowPrivate } from "#shared/network/address-policy.ts";
import { err, ok, type Result } from "#shared/result.ts";
import { fetchSource } from "../../source/fetch/fetch-source.ts";

export type Extra = {
  readonly url: string;
  /** The file to write. */
  readonly path: string;
  /** The subject of failure messages: `The watermark`. */
  readonly subject: string;
  readonly code: ErrorCode;
  readonly maxBytes: number;
  /** Completes `it is not`, for a file of another kind (AppError `input_not_media`). */
  readonly expected: string;
};

export type ExtraDeps = { readonly allow: AllowPrivate; readonly signal: AbortSignal };

/**
 * Fetches the file and calls `check`. `check` throws AppError `input_not_media`, or an AppError whose message completes
 * `cannot be used: `. Returns the path, or a failure. Rejects only with the signal's reason, and with `node_failed` for
 * errors of this machine.
 */
export async function fetchExtra(
  extra: Extra,
  check: (path: string) => Promise<void>,
  { allow, signal }: ExtraDeps,
): Promise<Result<string>> {
  const { url, path, subject, code, maxBytes } = extra;
  try {
    await fetchSource({ url, destination: path, allow, maxBytes, signal });
    await check(path);
    return ok(path);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof AppError) || error.code === "node_failed") throw error;
    const host = URL.canParse(url) ? new URL(url).host : "";
    const message = `${subject} from the host \`${host}\` cannot be used: ${reasonOf(error, extra)}.`;
    return err({ code, message });
  }
}

/**
 * The reason why the file cannot be used. Most codes need a text of their own, because the error's message is about an
 * input.
 */
function reasonOf({ code, message }: AppError, { maxBytes, expected }: Extra): string {
  const status = /^input_http_(\d+)$/.exec(code)?.[1];
  if (status) return `the host responded with HTTP ${status}`;
  switch (code) {
    case "input_too_large":
      return `it is larger than ${maxBytes / 1e6} MB`;
    case "input_address_not_allowed":
      return "the address is not public";
    case "input_timeout":
    case "input_unreachable":
      return "the host did not respond, or closed the connection early";
    case "input_not_media":
    case "input_codec_not_supported":
      return `it is not ${expected}`;
    default:
      return message;
  }
}
