import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { callOf } from "./admin-call.ts";

const rows: [string, object | null][] = [
  ["accounts", { method: "GET", path: "/admin/accounts" }],
  ["accounts create me", { method: "POST", path: "/admin/accounts", body: { name: "me" } }],
  ["accounts create", null],
  ["accounts limit A1 50", { method: "POST", path: "/admin/accounts/A1/limits", body: { max_unfinished_jobs: 50 } }],
  [
    "accounts limit A1 default",
    { method: "POST", path: "/admin/accounts/A1/limits", body: { max_unfinished_jobs: null } },
  ],
  ["accounts limit A1 few", null],
  ["accounts limit A1", null],
  ["accounts rotate-secret A1", { method: "POST", path: "/admin/accounts/A1/rotate-secret" }],
  ["accounts rotate-secret A1 B2", null],
  ["reseal", { method: "POST", path: "/admin/reseal", body: {}, paginated: true }],
  ["keys A1", { method: "GET", path: "/admin/accounts/A1/keys" }],
  ["keys create A1", { method: "POST", path: "/admin/accounts/A1/keys" }],
  ["keys revoke ../x", { method: "DELETE", path: "/admin/keys/..%2Fx" }],
  ["keys", null],
  ["node-tokens", { method: "GET", path: "/admin/node-tokens" }],
  ["node-tokens create rack", { method: "POST", path: "/admin/node-tokens", body: { name: "rack" } }],
  ["node-tokens revoke 12", { method: "DELETE", path: "/admin/node-tokens/12" }],
  ["node-tokens create a b", null],
  ["accounts weight A1 3", { method: "POST", path: "/admin/accounts/A1/limits", body: { weight: 3 } }],
  ["accounts weight A1 default", null],
  ["accounts max-running A1 8", { method: "POST", path: "/admin/accounts/A1/limits", body: { max_running: 8 } }],
  [
    "accounts max-running A1 default",
    { method: "POST", path: "/admin/accounts/A1/limits", body: { max_running: null } },
  ],
  ["nodes", { method: "GET", path: "/admin/nodes" }],
  ["nodes show a/b", { method: "GET", path: "/admin/nodes/a%2Fb" }],
  ["nodes show", null],
  ["nodes drain attic", { method: "POST", path: "/admin/nodes/attic/drain" }],
  ["nodes cordon attic", { method: "POST", path: "/admin/nodes/attic/cordon" }],
  ["nodes uncordon attic", { method: "POST", path: "/admin/nodes/attic/uncordon" }],
  ["nodes stop attic", null],
  ["autoscale", { method: "GET", path: "/autoscale" }],
  ["constructor", null],
  ["", null],
];
it.each(rows)("npm run admin -- %s", (command, call) => {
  expect(callOf(command.split(" "))).toEqual(call);
});

it("binds a new node token to a pool and labels, and nothing else", () => {
  const binding = { pool: "gpu", label: ["region:eu", "ssd"] };
  expect(callOf(["node-tokens", "create", "rack"], binding)).toEqual({
    ...{ method: "POST", path: "/admin/node-tokens" },
    body: { name: "rack", pool: "gpu", labels: ["region:eu", "ssd"] },
  });
  expect(callOf(["accounts", "create", "me"], binding)).toBeNull();
  expect(callOf(["nodes"], { label: ["ssd"] })).toBeNull();
});

it.each(["--help", "-h"])("npm run admin -- %s shows its commands", (option) => {
  const shown = execFileSync(process.execPath, [join(import.meta.dirname, "admin.ts"), option], { encoding: "utf8" });
  expect(shown).toMatch(/^Usage: npm run admin/);
});
