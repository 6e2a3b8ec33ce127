import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { callOf } from "./admin-call.ts";

const rows: [string, object | null][] = [
  ["accounts", { method: "GET", path: "/accounts" }],
  ["accounts create me", { method: "POST", path: "/accounts", body: { name: "me" } }],
  ["accounts create", null],
  ["accounts limit A1 50", { method: "POST", path: "/accounts/A1/limits", body: { max_unfinished_jobs: 50 } }],
  ["accounts limit A1 default", { method: "POST", path: "/accounts/A1/limits", body: { max_unfinished_jobs: null } }],
  ["accounts limit A1 few", null],
  ["accounts limit A1", null],
  ["accounts rotate-secret A1", { method: "POST", path: "/accounts/A1/rotate-secret" }],
  ["accounts rotate-secret A1 B2", null],
  ["reseal", { method: "POST", path: "/reseal", body: {}, paginated: true }],
  ["keys A1", { method: "GET", path: "/accounts/A1/keys" }],
  ["keys create A1", { method: "POST", path: "/accounts/A1/keys" }],
  ["keys revoke ../x", { method: "DELETE", path: "/keys/..%2Fx" }],
  ["keys", null],
  ["node-tokens", { method: "GET", path: "/node-tokens" }],
  ["node-tokens create rack", { method: "POST", path: "/node-tokens", body: { name: "rack" } }],
  ["node-tokens revoke 12", { method: "DELETE", path: "/node-tokens/12" }],
  ["node-tokens create a b", null],
  ["constructor", null],
  ["", null],
];
it.each(rows)("npm run admin -- %s", (command, call) => {
  expect(callOf(command.split(" "))).toEqual(call);
});

it.each(["--help", "-h"])("npm run admin -- %s shows its commands", (option) => {
  const shown = execFileSync(process.execPath, [join(import.meta.dirname, "admin.ts"), option], { encoding: "utf8" });
  expect(shown).toMatch(/^Usage: npm run admin/);
});
