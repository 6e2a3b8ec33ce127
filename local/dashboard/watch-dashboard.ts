// Builds the dashboard when one of its files is saved (npm run dev).
import { watch } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../home/constants.ts";
import { DIST, ensureDashboard, isCurrent } from "./build-dashboard.ts";

/** The folders with the sources of the build. */
const FOLDERS = ["dashboard", "client", "shared"];
/** Editors write a file in several steps, and save several files at once. */
const SETTLE_MS = 200;

/** Watches the sources until the returned function is called. `notify` gets messages for people. */
export function buildOnSave(notify: (message: string) => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const rebuild = async (): Promise<void> => {
    if (await isCurrent(DIST)) return;
    await ensureDashboard();
    if (await isCurrent(DIST)) notify("The dashboard is built again: reload its page.");
  };
  const watchers = FOLDERS.map((folder) =>
    watch(join(ROOT, folder), { recursive: true }, (_event, name) => {
      if (!/\.(tsx?|css|html)$/.test(name ?? "")) return;
      clearTimeout(timer);
      timer = setTimeout(() => void rebuild(), SETTLE_MS);
    }),
  );
  return () => {
    clearTimeout(timer);
    for (const watcher of watchers) watcher.close();
  };
}
