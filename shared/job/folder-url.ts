// Files in an operator's folder on nodes, as URLs: `folder://media/out/720p.mp4`.
import * as z from "zod";

/** Name of a folder. Nodes have it at paths of their own. */
export const FolderName = z
  .string("must be the name of a folder that the operator has given to nodes")
  .regex(/^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/, "must have 1 to 32 lowercase letters, digits and hyphens");

export type FolderFile = {
  readonly folder: string;
  /** The path below the folder, without a leading slash. */
  readonly path: string;
};

const SCHEME = "folder://";

export const isFolderUrl = (url: string): boolean => url.startsWith(SCHEME);

/** Characters with a meaning in URLs are percent-encoded. */
export const folderUrl = ({ folder, path }: FolderFile): string =>
  `${SCHEME}${folder}/${path.split("/").map(encodeURIComponent).join("/")}`;

/** Returns the file of a URL; null if the URL names no file below a folder. */
export function parseFolderUrl(url: string): FolderFile | null {
  const [, folder = "", encoded = ""] = /^folder:\/\/([a-z0-9-]+)\/(.+)$/.exec(url) ?? [];
  try {
    const segments = encoded.split("/").map(decodeURIComponent);
    return segments.every(isSegment) && FolderName.safeParse(folder).success
      ? { folder, path: segments.join("/") }
      : null;
  } catch {
    return null;
  }
}

/** False for names that would lead to other folders. */
const isSegment = (name: string): boolean => !/^(?:|\.|\.\.)$|[\0/\\]/.test(name);
