/**
 * Percent-encodes a path, except slashes and RFC 3986's unreserved characters, as the canonical paths of signatures
 * require.
 */
export const encodePath = (path: string): string => path.split("/").map(encodeSegment).join("/");

const encodeSegment = (segment: string): string =>
  encodeURIComponent(segment).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
