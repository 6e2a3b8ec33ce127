// Separates the keys of encrypted streams from their outputs, so that the keys are not stored or returned with the
// request.
import type { OutputSpec } from "../../job/output-spec.ts";

/** Key of an output, by its index, in hexadecimal; null if the service creates the key. */
export type RequestedStreamKey = { readonly output: number; readonly key: string | null };

/** Returns the outputs without keys, and the keys. */
export function takeStreamKeys(outputs: readonly OutputSpec[]): { outputs: OutputSpec[]; keys: RequestedStreamKey[] } {
  const keys: RequestedStreamKey[] = [];
  const withoutKeys = outputs.map((output) => {
    if (output.type !== "httpstream" || !output.encryption) return output;
    keys.push({ output: output.index, key: output.encryption.key });
    return { ...output, encryption: { ...output.encryption, key: null } };
  });
  return { outputs: withoutKeys, keys };
}
