// Whether a source can be read by ranges, and how large it is.
import type { AllowPrivate } from "#shared/network/address-policy.ts";
import { guardedAgent } from "../fetch/address-guard.ts";
import { readAnswer, validatorOf } from "../fetch/read-response.ts";
import { addressRefusal, httpFailure } from "../fetch/source-failure.ts";
import { requestSource } from "../fetch/source-request.ts";
import type { SourcePiece } from "./range-reader.ts";

export type PieceRequest = {
  readonly url: string;
  readonly allow: AllowPrivate;
  /** How long the server may send nothing. */
  readonly stallMs: number;
  readonly signal: AbortSignal;
};

/**
 * Asks for the first byte of a file, once. Null when its server does not do ranges, does not say how long the file is, or
 * names no version of it: then it has to be fetched as a whole. Throws AppError as `fetchSource` does.
 */
export async function describePiece({ url, ...request }: PieceRequest): Promise<SourcePiece | null> {
  const agent = guardedAgent({ allow: request.allow, refuse: addressRefusal });
  try {
    const answer = await requestSource({ ...{ url, agent, ...request }, headers: { range: "bytes=0-0" } });
    const { statusCode, headers, body } = answer;
    body.on("error", () => undefined).destroy();
    const reading = readAnswer(statusCode, headers, { received: 0, totalBytes: null, validator: null });
    // An empty file has no first byte.
    if (reading.kind === "http-error" && statusCode !== 416) throw httpFailure(answer);
    const validator = validatorOf(headers);
    if (statusCode !== 206 || reading.kind !== "bytes" || reading.totalBytes === null || validator === null)
      return null;
    return { url, sizeBytes: reading.totalBytes, validator };
  } finally {
    await agent.destroy();
  }
}
