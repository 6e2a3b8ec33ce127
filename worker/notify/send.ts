// Sends a request of a notification, with a time limit.
import { messageOf } from "#shared/log.ts";
import { fetchWithin } from "../http-client/fetch-within.ts";
import type { DeliveryResult } from "./delivery.ts";

/** Time limit for the response of a receiver (api-v2 §9). */
const RESPONSE_LIMIT_MS = 15_000;

/** Sends a request and reads its response. Redirects are not followed. A missing response is a result, too. */
export async function send(
  request: Request,
  read: (response: Response) => Promise<DeliveryResult>,
): Promise<DeliveryResult> {
  try {
    return await fetchWithin(RESPONSE_LIMIT_MS, request, read);
  } catch (error) {
    return { error: `No response: ${messageOf(error)}` };
  }
}
