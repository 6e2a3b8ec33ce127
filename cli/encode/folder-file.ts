// Files in a folder of the nodes on the command line: `folder:media/in/video.mov`.
import { usageError } from "../exit.ts";

export const isFolderFile = (text: string): boolean => text.startsWith("folder:");

/** Returns the section of a request. `isSource`: the path is required. Throws a usage error for any other text. */
export function folderSection(text: string, isSource: boolean): Readonly<Record<string, string>> {
  const [, folder = "", path = ""] = /^folder:(?:\/\/)?([^/]+)(?:\/(.*))?$/s.exec(text) ?? [];
  if (folder === "" || (isSource && path === "")) {
    throw usageError(`"${text}" must be folder:name${isSource ? "/path/of/the/file" : ", or folder:name/path"}`);
  }
  return { service: "folder", folder, ...(path === "" ? {} : { path }) };
}
