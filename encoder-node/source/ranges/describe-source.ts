// Finds out whether the host of a source supports ranges, and the size of the source.
import type { AllowPrivate } from "#shared/network/address-policy.ts";
import { guardedAgent } from "../../network/address-guard.ts";
import { readResponse, validatorOf } from "../fetch/read-response.ts";
import { addressNotAllowed, httpFailure } from "../fetch/source-failure.ts";
import { requestSource, type SecretHeaders } from "../fetch/source-request.ts";
import type { SourcePiece } from "./source-pieces.ts";

export type DescribeRequest = {
  readonly url: string;
  readonly secretHeaders?: SecretHeaders | undefined;
  readonly allow: AllowPrivate;
  /** Longest silence of the server. */
  readonly stallMs: number;
  readonly signal: AbortSignal;
};

/**
 * Requests the first byte of a file, once. Null when its server supports no ranges, sends no size, or identifies no
 * version: then the file must be fetched as a whole. Throws AppError as `fetchSource` does.
 */
export async function describeSource(request: DescribeRequest): Promise<SourcePiece | null> {
  const agent = guardedAgent({ allow: request.allow, refuse: addressNotAllowed });
  try {
    const response = await requestSource({ ...request, agent, headers: { range: "bytes=0-0" } });
    const { statusCode, headers, body } = response;
    body.on("error", () => undefined).destroy();
    const reading = readResponse(statusCode, headers, { received: 0, totalBytes: null, validator: null });
    // An empty file has no first byte.
    if (reading.kind === "http-error" && statusCode !== 416) throw httpFailure(response);
    const validator = validatorOf(headers);
    if (statusCode !== 206 || reading.kind !== "bytes" || reading.totalBytes === null || validator === null)
      return null;
    const { url, secretHeaders } = request;
    return { url, secretHeaders, sizeBytes: reading.totalBytes, validator };
  } finally {
    await agent.destroy();
  }
}
