// The operator's folders on this node, such as shares of a NAS (`--folder media=/mnt/nas/media`).
import { access, constants, realpath, stat } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { type FolderFile, FolderName, parseFolderUrl } from "#shared/job/folder-url.ts";
import { messageOf } from "#shared/log.ts";

/** An option: the name of a folder and its path on this node. */
export type FolderOption = { readonly name: string; readonly path: string; readonly isReadOnly: boolean };

export type NodeFolder = {
  readonly name: string;
  /** The path of the folder without links. */
  readonly root: string;
  readonly isWritable: boolean;
  /** True if a file system is mounted at the folder: without it, the folder must not be used. */
  readonly isMount: boolean;
  /** A folder of the node with a note for each temporary file (temporary-files.ts). */
  readonly notes: string;
};
export type NodeFolders = ReadonlyMap<string, NodeFolder>;

/** Parses `name=path` or `name=path:ro`; null for any other text. */
export function parseFolderOption(text: string): FolderOption | null {
  const [, name = "", path = "", mode] = /^([^=]*)=(.*?)(:ro|:rw)?$/s.exec(text) ?? [];
  if (!FolderName.safeParse(name).success || !path.startsWith(sep)) return null;
  return { name, path, isReadOnly: mode === ":ro" };
}

/** Opens the folders. Throws a message for people if one cannot be used, or contains the node's own files. */
export async function openFolders(options: readonly FolderOption[], workFolder: string): Promise<NodeFolders> {
  const work = await realpath(workFolder);
  const folders = new Map<string, NodeFolder>();
  for (const { name, path, isReadOnly } of options) {
    const problem = (reason: string): Error =>
      new Error(`The folder ${path} cannot be used (--folder ${name}): ${reason}`);
    if (folders.has(name)) throw problem("another folder has this name");
    const root = await realpath(path).catch((error: unknown) => {
      throw problem(messageOf(error));
    });
    if (`${work}${sep}`.startsWith(root.endsWith(sep) ? root : root + sep))
      throw problem("it contains the work folder");
    if (!(await stat(root)).isDirectory()) throw problem("it is not a folder");
    await access(root, constants.R_OK | constants.X_OK | (isReadOnly ? 0 : constants.W_OK)).catch(() => {
      throw problem(isReadOnly ? "it is not readable" : "it is not writable; add :ro if that is right");
    });
    const notes = join(work, "folder-files", name);
    folders.set(name, { name, root, isWritable: !isReadOnly, isMount: await isMountPoint(root), notes });
  }
  return folders;
}

/** True if the folder is on another file system than its parent. */
export const isMountPoint = async (root: string): Promise<boolean> =>
  (await stat(root)).dev !== (await stat(dirname(root))).dev;

/** The folder of a `folder://` URL, and the path of the file below it; null if this node does not have the folder. */
export function placeOf(url: string, folders: NodeFolders): (FolderFile & { readonly at: NodeFolder }) | null {
  const file = parseFolderUrl(url);
  const at = file && folders.get(file.folder);
  return file && at ? { ...file, at } : null;
}
