import { expect, it } from "vitest";
import { findCircles, type Import, importsOf } from "./circles.ts";

const imports = (...pairs: string[]): Import[] =>
  pairs.map((pair) => {
    const [from = "", to = ""] = pair.split(" > ");
    return { from, to };
  });

it("finds each kind of import as a path from the root", () => {
  const text = `
    import { a } from "./a.ts";
    import type { B } from "../b.ts";
    export * from "#shared/c.ts";
    type D = import("./deep/d.ts").D;
    const e = await import("./e.ts");
    import "./f.ts";
    import { g } from "node:fs";
    import { h } from "zod";
  `;
  expect(importsOf("worker/job/x.ts", text).map(({ to }) => to)).toEqual([
    ...["worker/job/a.ts", "worker/b.ts", "shared/c.ts", "worker/job/deep/d.ts", "worker/job/e.ts", "worker/job/f.ts"],
  ]);
});

it("accepts rooms that import each other in one direction", () => {
  expect(findCircles(imports("w/a/1.ts > w/b/1.ts", "w/b/1.ts > w/c/1.ts", "w/a/2.ts > w/c/1.ts"))).toEqual([]);
  expect(findCircles(imports("w/a/1.ts > w/a/2.ts", "w/main.ts > w/a/1.ts"))).toEqual([]);
});

it("finds two rooms that import each other, even if no two files do", () => {
  const both = imports("w/a/1.ts > w/b/1.ts", "w/b/2.ts > w/a/2.ts");
  expect(findCircles(both)).toEqual([{ folder: "w", rooms: ["a", "b"], imports: both }]);
});

it("finds a circle of three rooms, and lists only the imports in it", () => {
  const circle = imports("a/1.ts > b/1.ts", "b/1.ts > c/1.ts", "c/1.ts > a/1.ts");
  const [first, ...more] = findCircles([...circle, ...imports("a/1.ts > d/1.ts", "e/1.ts > a/1.ts")]);
  expect(more).toEqual([]);
  expect(first).toMatchObject({ folder: "", rooms: ["a", "b", "c"] });
  expect(first?.imports).toEqual(circle);
});

it("finds circles between files, and between a file and a folder beside it", () => {
  expect(findCircles(imports("w/a.ts > w/b.ts", "w/b.ts > w/a.ts"))).toMatchObject([{ rooms: ["a.ts", "b.ts"] }]);
  expect(findCircles(imports("w/a.ts > w/b/1.ts", "w/b/2.ts > w/a.ts"))).toMatchObject([{ rooms: ["a.ts", "b"] }]);
});
