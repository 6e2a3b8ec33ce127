// Helpers of the cases. They use only web APIs, because the cases also run in browsers and workerd.
import { Copra, CopraError } from "../index.ts";

/** A title, and a test on a server (test/services/client-service.ts). */
export type Case = readonly [title: string, run: (origin: string) => Promise<void>];

export const request = {
  input: { url: "https://example.com/a.mp4" },
  storage: { service: "coconut" },
  outputs: { "mp4:720p": { path: "a.mp4" } },
  notification: { type: "http", url: "https://example.com/hook" },
} as const;

/** A client of a server scenario. The server counts requests separately for each URL. */
export function scenario(origin: string, name: string) {
  const url = `${origin}/${name}/${crypto.getRandomValues(new Uint32Array(2)).join("")}`;
  const requests = async (): Promise<
    { method: string; path: string; headers: Record<string, string>; size: number }[]
  > => (await fetch(`${url}/requests`)).json();
  return { copra: new Copra({ url: `${url}/`, key: "k-key" }), requests, url };
}

export const ofCopraError = async (promise: Promise<unknown>): Promise<Partial<CopraError>> => {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof CopraError)) throw new Error(`Not a CopraError: ${error}`);
  const { status, code, field, requestId, retryable, message } = error;
  return { status, code, field, requestId, retryable, message };
};

export function equal(actual: unknown, expected: unknown): void {
  const [a, b] = [actual, expected].map((value) => JSON.stringify(value, null, 1));
  if (a !== b) throw new Error(`Expected ${b}\nbut got ${a}`);
}

export async function collected<Value>(
  values: AsyncIterable<Value>,
  most = Number.POSITIVE_INFINITY,
): Promise<Value[]> {
  const all: Value[] = [];
  for await (const value of values) if (all.push(value) >= most) break;
  return all;
}
