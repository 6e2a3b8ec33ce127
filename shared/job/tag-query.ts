// Tags in queries: each tag is a parameter `tag.<name>`.

/** Maximum number of tags in a filter. */
export const MAX_FILTER_TAGS = 3;

/** Names of tags. `__proto__` would be lost in objects. */
export const TAG_NAME = /^(?!__proto__$)[a-z0-9_.-]{1,40}$/;

/** The start of the names of query parameters about tags. */
export const TAG_PREFIX = "tag.";

/** Separates the parameters `tag.<name>` of a query from all others. */
export function takeTags(query: Readonly<Record<string, string>>): {
  tags: Record<string, string>;
  rest: Record<string, string>;
} {
  const [tags, rest] = [true, false].map((isTag) =>
    Object.entries(query).filter(([name]) => name.startsWith(TAG_PREFIX) === isTag),
  );
  return {
    tags: Object.fromEntries((tags ?? []).map(([name, value]) => [name.slice(TAG_PREFIX.length), value])),
    rest: Object.fromEntries(rest ?? []),
  };
}
