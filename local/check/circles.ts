// Finds circles between rooms: in each folder, imports must put its files and subfolders in an order.
import { readFileSync } from "node:fs";
import { dirname, posix } from "node:path";
import { isProduction } from "./files.ts";

export type Import = { from: string; to: string };

/** A circle: the children of `folder` that import each other, and the imports between them. */
export type Circle = { folder: string; rooms: string[]; imports: Import[] };

// Matches imports, type imports, re-exports, dynamic imports and inline type imports of this repository's files.
const SPECIFIER = /(?:\bfrom|\bimport)\s*\(?\s*"((?:\.{1,2}\/|#shared\/)[^"]+)"/g;

/** The imports in a file's text, as paths from the repository's root. */
export const importsOf = (file: string, text: string): Import[] =>
  [...text.matchAll(SPECIFIER)].map(([, specifier = ""]) => ({
    from: file,
    to: specifier.startsWith("#shared/")
      ? `shared/${specifier.slice("#shared/".length)}`
      : posix.normalize(posix.join(dirname(file), specifier)),
  }));

/** The deepest folder that contains both ends of an import, and its child at each end. */
const borderOf = ({ from, to }: Import) => {
  const [a, b] = [from.split("/"), to.split("/")];
  const depth = a.findIndex((name, at) => name !== b[at]);
  return { folder: a.slice(0, depth).join("/"), fromRoom: a[depth] ?? "", toRoom: b[depth] ?? "" };
};

type Graph = Map<string, Map<string, Import[]>>;

const reachable = (graph: Graph, start: string): Set<string> => {
  const seen = new Set<string>();
  const visit = (room: string): void => {
    for (const next of graph.get(room)?.keys() ?? []) {
      if (seen.has(next)) continue;
      seen.add(next);
      visit(next);
    }
  };
  visit(start);
  return seen;
};

/** Groups of rooms that import each other, directly or through other rooms. */
const circlesIn = (graph: Graph): string[][] => {
  const reach = new Map([...graph.keys()].map((room) => [room, reachable(graph, room)]));
  const groups = [...graph.keys()]
    .filter((room) => reach.get(room)?.has(room))
    .map((room) => [...graph.keys()].filter((other) => reach.get(room)?.has(other) && reach.get(other)?.has(room)));
  return [...new Map(groups.map((group) => [group.join(" "), group])).values()];
};

/** The circles between files and folders with the same parent. */
export const findCircles = (imports: readonly Import[]): Circle[] => {
  const graphs = new Map<string, Graph>();
  for (const edge of imports) {
    if (edge.from === edge.to) continue;
    const { folder, fromRoom, toRoom } = borderOf(edge);
    const graph = graphs.get(folder) ?? new Map();
    graphs.set(folder, graph);
    const edges = graph.get(fromRoom) ?? new Map();
    graph.set(fromRoom, edges.set(toRoom, [...(edges.get(toRoom) ?? []), edge]));
  }
  return [...graphs].flatMap(([folder, graph]) =>
    circlesIn(graph).map((rooms) => ({
      folder,
      rooms,
      imports: rooms.flatMap((room) =>
        [...(graph.get(room) ?? [])].flatMap(([to, edges]) => (rooms.includes(to) && to !== room ? edges : [])),
      ),
    })),
  );
};

/** The circles of production code. Tests and their support may import any file. */
export const circlesOf = (files: readonly string[]): Circle[] => {
  const production = new Set(files.filter(isProduction));
  const imports = [...production].flatMap((file) => importsOf(file, readFileSync(file, "utf8")));
  return findCircles(imports.filter(({ to }) => production.has(to)));
};
