// Setup of every test file. vitest compares typed arrays element by element: 3.4 s for a Buffer of 2 MB (2026-11-28).
import { expect } from "vitest";

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

/** True if both are arrays of a type with equal bytes. Otherwise vitest compares them. */
expect.addEqualityTesters([
  (a: unknown, b: unknown) => {
    if (!ArrayBuffer.isView(a) || !ArrayBuffer.isView(b)) return undefined;
    if (a.constructor !== b.constructor || a.byteLength !== b.byteLength) return undefined;
    const bytes = bytesOf(b);
    return bytesOf(a).every((byte, at) => byte === bytes[at]) || undefined;
  },
]);
