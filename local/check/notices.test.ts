import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../home/constants.ts";

type Package = Readonly<{ version?: string; license?: string; dependencies?: Record<string, string> }>;

const read = (name: string): string => readFileSync(join(ROOT, name), "utf8");
const lock: { packages: Record<string, Package> } = JSON.parse(read("package-lock.json"));
const { dependencies, optionalDependencies } = JSON.parse(read("package.json"));

/** The installed package `name` for the package at the path `from`, as Node resolves it. */
function resolve(name: string, from: string): [path: string, found: Package] {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf("/node_modules/")))) {
    const path = `${at ? `${at}/` : ""}node_modules/${name}`;
    const installed = lock.packages[path];
    if (installed) return [path, installed];
    if (!at) throw new Error(`${name} is not in package-lock.json`);
  }
}

/** All production dependencies, direct and indirect, as `name version license`. */
function production(): string[] {
  const packages = new Map<string, string>();
  const visit = (name: string, from: string): void => {
    const [path, { version, license = "MIT", dependencies = {} }] = resolve(name, from);
    if (packages.has(path)) return;
    packages.set(path, `${name} ${version} ${license}`);
    for (const dependency of Object.keys(dependencies)) visit(dependency, path);
  };
  for (const name of Object.keys(dependencies)) visit(name, "");
  return [...packages.values()].toSorted();
}

it("lists every shipped library, with its version and license", () => {
  const rows = read("THIRD-PARTY-NOTICES.md").matchAll(/^\| \[(.+?)\]\(.*?\) \| (\S+) \| ([^|]+) \|/gm);
  expect([...rows].map(([, name, version, license]) => `${name} ${version} ${license}`)).toEqual(production());
});

it("lists every program that npm installs as an optional dependency", () => {
  const notices = read("THIRD-PARTY-NOTICES.md");
  for (const name of Object.keys(optionalDependencies)) expect(notices).toContain(name);
});
