// Local paths of a job's output files below the folder of `--output`.

/** An output's URLs and its paths in the request: a file, a pattern, or the folder of a stream. */
export type StoredOutput = { readonly paths: readonly string[]; readonly urls: readonly string[] };

/**
 * Returns the URL of the storage folder that contains all outputs, with a trailing slash. It is the part of an output's
 * URL before the requested path. Null if no URL ends like its path.
 */
export function storageBase(outputs: readonly StoredOutput[]): string | null {
  for (const { paths, urls } of outputs) {
    for (const url of urls) {
      const folder = new URL(".", withoutQuery(url)).href;
      for (const path of paths) {
        const wanted = folderPart(path);
        if (wanted === "" || decoded(folder).endsWith(`/${wanted}`)) {
          const depth = wanted === "" ? 0 : wanted.split("/").length - 1;
          return new URL("../".repeat(depth) || ".", folder).href;
        }
      }
    }
  }
  return null;
}

/**
 * Returns the URL of the deepest folder that contains all files, with a trailing slash. Local paths start there if the
 * request is not known. Null if the files are on several hosts.
 */
export function commonFolder(urls: readonly string[]): string | null {
  const [first = null, ...folders] = urls.map((url) => new URL(".", withoutQuery(url)).href);
  let common = first;
  for (const folder of folders) {
    while (common !== null && !folder.startsWith(common)) common = parentOf(common);
  }
  return common;
}

/** Returns null for the root of a host. */
function parentOf(folder: string): string | null {
  const parent = new URL("..", folder).href;
  return parent === folder ? null : parent;
}

/**
 * Returns the folder part of a request's path, without a leading and with a trailing slash. Empty if there is no
 * folder.
 */
function folderPart(path: string): string {
  const clean = path.replace(/^\/+/, "");
  return clean.slice(0, clean.lastIndexOf("/") + 1);
}

/**
 * Returns the local path of a stored file: relative to `base`, without `prefix`. Replaces parts that could leave the
 * folder or that file systems do not allow.
 */
export function localPath(url: string, base: string | null, prefix: string): string {
  const plain = withoutQuery(url);
  const relative = base !== null && plain.startsWith(base) ? plain.slice(base.length) : (plain.split("/").at(-1) ?? "");
  const path = decoded(relative);
  const parts = (path.startsWith(prefix) ? path.slice(prefix.length) : path)
    .split(/[/\\]/)
    .filter((part) => part !== "" && part !== ".")
    // biome-ignore lint/suspicious/noControlCharactersInRegex: Windows allows no control characters in names.
    .map((part) => (part === ".." ? "__" : part.replaceAll(/[<>:"|?*\u0000-\u001f]/g, "_")));
  return parts.length > 0 ? parts.join("/") : "output";
}

export function withoutQuery(url: string): string {
  const parsed = new URL(url);
  parsed.search = "";
  parsed.hash = "";
  return parsed.href;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
