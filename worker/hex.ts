/** Bytes as lower-case hexadecimal text. */
export const hex = (bytes: ArrayBuffer | ArrayLike<number>): string =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
