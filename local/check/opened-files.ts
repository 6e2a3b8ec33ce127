// Finds code of encoder nodes that opens files by path outside of encoder-node/run-files/. A run of ffmpeg can leave a
// link or a pipe under any name (docs/decisions/media.md).
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../home/constants.ts";
import { isProduction } from "./files.ts";

/** Modules and folders below encoder-node/ that may open files, with a description of the files. */
const ALLOWED: Readonly<Record<string, string>> = {
  "run-files/": "files of runs, with all checks",
  "text/burn-in/": "fonts, and the folder of a run while no process uses it",
  "ffmpeg/discover/": "programs of the operator, and the cache of their capabilities",
  "ffmpeg/check-isolation.ts": "settings of the kernel",
  "ffmpeg/sandbox/isolation.ts": "files in /proc",
  "ffmpeg/sandbox/loopback-network.ts": "namespaces in /proc",
  "ffmpeg/sandbox/sandbox-mounts.ts": "lists of devices",
  "ffmpeg/sandbox/sandbox-user.ts": "the folder of a run, before its first process",
  "folders/": "folders of the operator, with all checks",
  "upload/store-in-folder.ts": "new files in folders of the operator, with all checks",
  "link/lease-files.ts": "the spool, which no run sees",
  "speech/speech-process.ts": "its own files, in the sandbox",
  "text/parsing/parse-process.ts": "a file in /proc",
  "node-identity.ts": "the id of the node",
  "node-facts.ts": "the version of the node",
  "token.ts": "the token of the node",
  "workspace/folder-lock.ts": "the lock of the work folder",
  "source/fetch/": "sources, which runs only read",
  "source/outline/": "sources, which runs only read",
  "source/ranges/": "caches of sources, which no run sees",
  "prepare/": "fonts in the folder of the task",
  "tasks/join/growing-run.ts": "pipes that the node made in its own folder",
};

/** Functions that act on the target of a link, or that wait for the other end of a pipe. */
const OPENING =
  /^(?:open|opendir|readFile|writeFile|appendFile|chmod|chown|lchown|copyFile|cp|truncate|utimes|createReadStream|createWriteStream)(?:Sync)?$/;
const IMPORT = /import\s+(type\s+)?([^;]*?)\s+from\s+"(?:node:)?fs(?:\/promises)?"/g;

/** The functions that a module imports to open files; `*` for all functions. */
export function openingImports(text: string): string[] {
  return [...text.matchAll(IMPORT)].flatMap(([, isType, names = ""]) => {
    if (isType) return [];
    if (!names.startsWith("{")) return ["*"];
    const imported = names.slice(1, -1).split(",");
    return imported.map((name) => name.trim().split(/\s+as\s+/)[0] ?? "").filter((name) => OPENING.test(name));
  });
}

/** A line for each module that opens files without permission. `files`: all files of the repository. */
export function openedFiles(files: readonly string[]): string[] {
  return files
    .filter((file) => file.startsWith("encoder-node/") && isProduction(file))
    .filter((file) => !Object.keys(ALLOWED).some((path) => file.startsWith(`encoder-node/${path}`)))
    .flatMap((file) => {
      const names = openingImports(readFileSync(join(ROOT, file), "utf8"));
      return names.length === 0 ? [] : [`${file} imports ${names.join(", ")} of node:fs`];
    });
}
