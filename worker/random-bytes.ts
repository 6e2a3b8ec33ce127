/** Bytes from the runtime's own secure source, for the ids and secrets of #shared/ids.ts. */
export const randomBytes = (count: number): Uint8Array => crypto.getRandomValues(new Uint8Array(count));
