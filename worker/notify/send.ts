// The exchange that every way of notifying comes down to: one request, one answer, in time.
import { messageOf } from "#shared/log.ts";
import { fetchWithin } from "../fetch-within.ts";
import type { DeliveryResult } from "./outbox.ts";

/** How long a receiver may take to answer (api-v2 §9). */
const ANSWER_LIMIT_MS = 15_000;

/** Sends a request and has its answer read; redirects are not followed, and no answer is a result too. */
export async function send(
  request: Request,
  read: (response: Response) => Promise<DeliveryResult>,
): Promise<DeliveryResult> {
  try {
    return await fetchWithin(ANSWER_LIMIT_MS, request, read);
  } catch (error) {
    return { error: `No answer: ${messageOf(error)}` };
  }
}
