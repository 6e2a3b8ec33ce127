import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { CopraAdmin } from "../../client/admin.ts";
import { Copra } from "../../client/index.ts";
import { CLIENT } from "./build-client.ts";

const url = "https://copra.test";

/** The names of all methods of an object and of its parts, such as `get` and `jobs.get`. */
function methodsOf(client: object): string[] {
  const prototype: object = Object.getPrototypeOf(client);
  const names = prototype === Object.prototype ? [] : Object.getOwnPropertyNames(prototype);
  const parts = Object.entries(client).flatMap(([part, value]: [string, unknown]) => {
    if (typeof value === "function") return [part];
    return typeof value === "object" && value !== null ? methodsOf(value).map((name) => `${part}.${name}`) : [];
  });
  return [...names.filter((name) => name !== "constructor"), ...parts];
}

it.each([
  ["Copra", methodsOf(new Copra({ url, key: "k" }))],
  ["CopraAdmin", methodsOf(new CopraAdmin({ url, token: "t" }))],
])("client/README.md names all methods of %s", (_, methods) => {
  const text = readFileSync(join(CLIENT, "README.md"), "utf8");
  expect(methods.length).toBeGreaterThan(20);
  expect(methods.filter((name) => !new RegExp(`[\`, ]${name}[(\`]`).test(text))).toEqual([]);
});
