// Compares docs/map.md with the folders: each folder has a row, or the row of a folder above names it.
import { dirname } from "node:path";
import { isProduction } from "./files.ts";

const ROOM = /`([\w./-]+)\/`/g;

const namesIn = (text: string): string[] => [...text.matchAll(ROOM)].map(([, name = ""]) => name);

/** Errors in the rows of a map of these files. Folders with fewer than two files need no row. */
export function mapErrors(map: string, files: readonly string[]): string[] {
  const counts = Map.groupBy(files.filter(isProduction), dirname);
  const rooms = map.slice(map.indexOf("## Rooms"));
  const folders = [...counts].flatMap(([folder, all]) => (all.length > 1 && folder.includes("/") ? [folder] : []));
  const exists = (name: string): boolean => files.some((file) => file.startsWith(`${name}/`));
  const inside = new Map<string, Set<string>>();
  const errors: string[] = [];
  for (const [, first = "", rest = ""] of rooms.matchAll(/^\| (`[^|]*`) \|(.*)$/gm)) {
    for (const name of namesIn(first)) {
      if (!exists(name)) errors.push(`${name}/ has a row and does not exist`);
      if (inside.has(name)) errors.push(`${name}/ has two rows`);
      inside.set(name, new Set(namesIn(rest)));
    }
  }
  const isNamed = (folder: string): boolean => {
    if (inside.has(folder)) return true;
    for (let above = dirname(folder); above !== "."; above = dirname(above)) {
      const name = folder.slice(above.length + 1);
      if (inside.get(above)?.has(name) || inside.get(above)?.has(name.split("/").at(-1) ?? "")) return true;
    }
    return false;
  };
  return [...errors, ...folders.filter((folder) => !isNamed(folder)).map((folder) => `${folder}/ is in no row`)];
}
