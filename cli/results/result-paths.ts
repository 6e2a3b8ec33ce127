// Where the files of a job's outputs go below the folder of `--output`.

/** An output's URLs, and the path that its request has: a file, a pattern, or the folder of a stream. */
export type StoredOutput = { readonly paths: readonly string[]; readonly urls: readonly string[] };

/**
 * The URL of the folder in which the storage keeps all outputs, with a slash at its end: what precedes the requested
 * path in an output's URL. Null if no URL ends like its path.
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
 * The URL of the deepest folder that has all files, with a slash at its end: what local paths are relative to when the
 * request is not known. Null if the files are not all on one host.
 */
export function commonFolder(urls: readonly string[]): string | null {
  const [first = null, ...folders] = urls.map((url) => new URL(".", withoutQuery(url)).href);
  let common = first;
  for (const folder of folders) {
    while (common !== null && !folder.startsWith(common)) common = parentOf(common);
  }
  return common;
}

/** Null for the root of a host. */
function parentOf(folder: string): string | null {
  const parent = new URL("..", folder).href;
  return parent === folder ? null : parent;
}

/** The folder of a path of a request, without a slash at its beginning and with one at its end; empty for none. */
function folderPart(path: string): string {
  const clean = path.replace(/^\/+/, "");
  return clean.slice(0, clean.lastIndexOf("/") + 1);
}

/**
 * The path of a stored file below the folder for results: relative to `base`, without `prefix`. Parts that could leave
 * the folder, or that file systems do not allow, are replaced.
 */
export function localPath(url: string, base: string | null, prefix: string): string {
  const plain = withoutQuery(url);
  const relative = base !== null && plain.startsWith(base) ? plain.slice(base.length) : (plain.split("/").at(-1) ?? "");
  const path = decoded(relative);
  const parts = (path.startsWith(prefix) ? path.slice(prefix.length) : path)
    .split(/[/\\]/)
    .filter((part) => part !== "" && part !== ".")
    // biome-ignore lint/suspicious/noControlCharactersInRegex: Windows allows none in names.
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
