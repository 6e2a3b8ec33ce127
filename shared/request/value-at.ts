// Reads and replaces values in a request by their path.

/** Returns the value at a path; undefined if there is none. */
export function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root;
  for (const key of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

/** Returns a copy of `root` with `value` at an existing path. */
export function withValueAt(root: unknown, path: readonly PropertyKey[], value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (typeof root !== "object" || root === null) return root;
  const child = withValueAt((root as Record<PropertyKey, unknown>)[key], rest, value);
  return Array.isArray(root) ? root.with(Number(key), child) : { ...root, [key]: child };
}
