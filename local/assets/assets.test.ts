import { build } from "esbuild";
import { expect, it } from "vitest";
import { ROOT } from "../home/constants.ts";

/** The files of this repository that a program loads when it starts. */
async function filesAtStart(program: string): Promise<readonly string[]> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [program],
    bundle: true,
    write: false,
    metafile: true,
    platform: "node",
    format: "esm",
    packages: "external",
    external: ["cloudflare:*"],
    logLevel: "silent",
  });
  const files = new Set([program]);
  for (const file of files) {
    for (const { kind, path, external } of metafile.inputs[file]?.imports ?? []) {
      if (kind !== "dynamic-import" && !external) files.add(path);
    }
  }
  return [...files];
}

// The programs of the control plane's image (deploy/images/control-plane.Dockerfile); serve.ts forks build-service.ts.
it.each([["local/serve/serve.ts"], ["local/control-plane/build-service.ts"], ["cli/main.ts"]])(
  "%s starts without the sources of dashboard and guides, which images lack",
  async (program) => {
    const files = await filesAtStart(program);
    expect(files.length).toBeGreaterThan(5);
    expect(files.filter((file) => /^(?:dashboard|docs|test|bench)\//.test(file))).toEqual([]);
  },
);
