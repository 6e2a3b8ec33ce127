// The reason why a medium does not play, as far as a page can find it.
import type { Reason } from "../messages.ts";

/**
 * The result of two requests for the same URL. `status`: the status that the page may read, or null if the browser
 * withholds it. `answers`: true if the storage answered at all.
 */
export type Finding = { readonly status: number | null; readonly answers: boolean };

/** `needsCors`: the player must read the bytes itself, as for streams. */
export function reasonOf({ status, answers }: Finding, needsCors: boolean): Reason {
  if (status === null) return answers ? (needsCors ? "cors" : "unclear") : "unreachable";
  if (status === 401 || status === 403) return "denied";
  if (status === 404 || status === 410) return "missing";
  return status >= 400 ? "other" : "codec";
}

const LIMIT_MS = 10_000;

/** Requests the first byte of a medium that does not play. */
export async function examine(url: string): Promise<Finding> {
  const ask = async (mode: RequestMode): Promise<number | null> => {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), LIMIT_MS);
    try {
      const headers = { range: "bytes=0-0" };
      const { status } = await fetch(url, { mode, headers, cache: "no-store", signal: abort.signal });
      return status;
    } catch {
      return null;
    } finally {
      clearTimeout(timer);
      abort.abort();
    }
  };
  const status = await ask("cors");
  return { status, answers: status !== null || (await ask("no-cors")) !== null };
}
