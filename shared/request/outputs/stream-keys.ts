// The keys of encrypted streams, taken out of their outputs: what is kept and shown of a request is without them.
import type { OutputSpec } from "../../job/output-spec.ts";

/** Of one output, by its index: the key in hexadecimal; null when the service is to make one. */
export type AskedStreamKey = { readonly output: number; readonly key: string | null };

/** Outputs without keys, and the keys by themselves. */
export function takeStreamKeys(outputs: readonly OutputSpec[]): { outputs: OutputSpec[]; keys: AskedStreamKey[] } {
  const keys: AskedStreamKey[] = [];
  const bare = outputs.map((output) => {
    if (output.type !== "httpstream" || !output.encryption) return output;
    keys.push({ output: output.index, key: output.encryption.key });
    return { ...output, encryption: { ...output.encryption, key: null } };
  });
  return { outputs: bare, keys };
}
