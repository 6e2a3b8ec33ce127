import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { it } from "../../test/fixtures.ts";
import { isLoopback, startCommands, WAYS } from "./node-commands.ts";

const SERVICE = { command: "npm run copra --", url: "https://encode.example.com", token: `n-${"a".repeat(43)}` };

it.for(WAYS)(
  "$name: a shell runs the commands with the token in a file that only its user can read",
  ({ name }, { folder }) => {
    const programs = ["npm", "docker", "sudo"].map((program) => `${program}() { echo "${program} $*"; }`);
    const script = ["set -eu", ...programs, startCommands(name, SERVICE)].join("\n");
    const out = execFileSync("sh", ["-c", script], { cwd: folder, encoding: "utf8" });
    const file = join(folder, "copra-node-token");
    expect([readFileSync(file, "utf8").trim(), statSync(file).mode & 0o777]).toEqual([SERVICE.token, 0o600]);
    expect(out).toMatch(
      /^(npm run copra -- node|sudo npm run copra -- node install|docker run) .*--url https:\/\/encode\.example\.com --token-file /m,
    );
    expect(out).not.toContain(SERVICE.token);
  },
);

it("names the command of the npm package, where the service is one", () => {
  const commands = startCommands("node", { ...SERVICE, command: "npx --no copra" });
  expect(commands).toContain("\nnpx --no copra node --url https://encode.example.com --token-file copra-node-token");
});

it.each([
  ["http://127.0.0.1:8787", true],
  ["http://localhost:8787", true],
  ["http://[::1]:8787", true],
  ["http://192.168.1.10:8787", false],
  ["https://localhost.example.com", false],
])("detects that the URL %s leads to the machine itself: %s", (url, is) => {
  expect(isLoopback(url)).toBe(is);
});
