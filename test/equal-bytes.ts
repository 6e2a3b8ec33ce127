// Setup of every test file. vitest compares typed arrays element by element: 3.4 s for a Buffer of 2 MB (2026-11-28).
import { expect } from "vitest";

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

/** True if both are arrays of a type with equal bytes. Otherwise vitest compares them. */
expect.addEqualityTesters([
  (one: unknown, other: unknown) => {
    if (!ArrayBuffer.isView(one) || !ArrayBuffer.isView(other)) return undefined;
    if (one.constructor !== other.constructor || one.byteLength !== other.byteLength) return undefined;
    const bytes = bytesOf(other);
    return bytesOf(one).every((byte, at) => byte === bytes[at]) || undefined;
  },
]);
