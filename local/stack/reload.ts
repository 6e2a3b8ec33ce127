// Restarts the control plane or the nodes when one of their source files is saved (npm run dev).
import { watch } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { messageOf } from "#shared/log.ts";
import { ROOT } from "../home/constants.ts";
import type { StackPart } from "./stack.ts";

/** The parts of the stack that run the files of a folder. */
const PARTS_BY_FOLDER: Readonly<Record<string, readonly StackPart[]>> = {
  "encoder-node": ["nodes"],
  "local/control-plane": ["control plane"],
  "local/front": ["control plane"],
  migrations: ["control plane"],
  // The local control plane checks the addresses of its requests with the nodes' code, which rarely changes.
  shared: ["control plane", "nodes"],
  worker: ["control plane"],
};

const ENTRIES: Readonly<Record<StackPart, string>> = {
  "control plane": "worker/index.ts",
  nodes: "encoder-node/main.ts",
};

/** Editors write a file in several steps, and save several files at once. */
const SETTLE_MS = 200;

/** The parts to restart when the file at `path`, from the repository's root, is saved. */
export function partsRunning(path: string): readonly StackPart[] {
  if (!/\.(ts|sql|sh|html|css)$/.test(path) || /\.test\.ts$|(^|\/)testing\//.test(path)) return [];
  const folder = Object.keys(PARTS_BY_FOLDER).find((name) => path.startsWith(`${name}/`));
  return PARTS_BY_FOLDER[folder ?? ""] ?? [];
}

/** The error of loading the files of a part; null if they load. Types are not checked. */
async function loadError(part: StackPart, root: string): Promise<string | null> {
  try {
    await build({
      entryPoints: [join(root, ENTRIES[part])],
      bundle: true,
      write: false,
      format: "esm",
      platform: "node",
      packages: "external",
      external: ["cloudflare:*"],
      loader: { ".sql": "text" },
      logLevel: "silent",
    });
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

export type ReloadOptions = {
  readonly restart: (part: StackPart) => void;
  /** Gets messages for people. */
  readonly notify: (message: string) => void;
  /** The folder with the sources; the repository unless given. */
  readonly root?: string;
};

/** Watches the sources until the returned function is called. Files that cannot be loaded restart nothing. */
export function restartOnSave({ restart, notify, root = ROOT }: ReloadOptions): () => void {
  const saved = new Set<string>();
  let timer: NodeJS.Timeout | undefined;

  async function reload(): Promise<void> {
    const paths = [...saved];
    saved.clear();
    for (const part of new Set(paths.flatMap(partsRunning))) {
      const error = await loadError(part, root);
      if (error === null) restart(part);
      notify(
        error === null
          ? `${paths.join(", ")} saved: restarting the ${part}.`
          : `${paths.join(", ")} saved, but the ${part} cannot load it and goes on as before:\n${error}`,
      );
    }
  }

  const watchers = Object.keys(PARTS_BY_FOLDER).map((folder) =>
    watch(join(root, folder), { recursive: true }, (_event, name) => {
      const path = `${folder}/${name}`;
      if (partsRunning(path).length === 0) return;
      saved.add(path);
      clearTimeout(timer);
      timer = setTimeout(() => void reload(), SETTLE_MS);
    }),
  );
  return () => {
    clearTimeout(timer);
    for (const watcher of watchers) watcher.close();
  };
}
