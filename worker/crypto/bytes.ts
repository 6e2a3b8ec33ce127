// Random bytes, and bytes as text.

/** Bytes as lowercase hexadecimal text. */
export const hex = (bytes: ArrayBuffer | ArrayLike<number>): string =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Bytes from the runtime's secure source, for the ids and secrets of #shared/ids.ts. */
export const randomBytes = (count: number): Uint8Array => crypto.getRandomValues(new Uint8Array(count));
