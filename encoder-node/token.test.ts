import { openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { it } from "../test/fixtures.ts";
import { readTokenFile, takeToken } from "./token.ts";

it("reads the token from the launcher's descriptor or the environment, and removes both variables", ({ folder }) => {
  const file = join(folder, "token");
  writeFileSync(file, "n-1\n");
  expect(readTokenFile(file)).toBe("n-1");
  const fd = openSync(file, "r");
  for (const [variables, token] of [
    [{ COPRA_NODE_TOKEN: "n-2", COPRA_NODE_TOKEN_FD: String(fd) }, "n-1"],
    [{ COPRA_NODE_TOKEN: "n-2" }, "n-2"],
    [{}, undefined],
  ] as const) {
    const env: Record<string, string | undefined> = { ...variables, PATH: "/bin" };
    expect([takeToken(env), env]).toEqual([token, { PATH: "/bin" }]);
  }
});
