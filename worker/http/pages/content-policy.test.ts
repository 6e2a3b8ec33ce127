import { expect, it } from "vitest";
import { playerPolicy, shellPolicy } from "./content-policy.ts";

const OWN = "https://copra.example";
const sourcesOf = (policy: string, directive: string): string[] | undefined =>
  policy
    .split("; ")
    .map((text) => text.split(" "))
    .find(([name]) => name === directive)
    ?.slice(1);

it("gives the player's page no origin, and the dashboard's page no media", () => {
  expect(sourcesOf(playerPolicy("none", OWN), "sandbox")).toEqual(["allow-scripts"]);
  expect(sourcesOf(playerPolicy("none", OWN), "frame-ancestors")).toEqual(["'self'"]);
  expect(sourcesOf(shellPolicy("none", OWN), "connect-src")).toEqual(["'self'"]);
  expect(sourcesOf(shellPolicy("none", OWN), "media-src")).toBeUndefined();
  for (const policy of [playerPolicy("all", OWN), shellPolicy("all", OWN)]) {
    expect(policy).not.toMatch(/unsafe|\*(?!:|;|$)/);
    expect(sourcesOf(policy, "default-src")).toEqual(["'none'"]);
  }
});

it.each([
  ["none", OWN, ["https:"]],
  ["loopback", OWN, ["https:", "http://127.0.0.1:*", "http://localhost:*"]],
  ["all", OWN, ["https:", "http:"]],
  ["none", "http://encoder.lan:8787", ["https:", "http://encoder.lan:8787"]],
] as const)("with %s at %s the player reads from %j", (allow, own, origins) => {
  expect(sourcesOf(playerPolicy(allow, own), "connect-src")).toEqual(origins);
  expect(sourcesOf(playerPolicy(allow, own), "media-src")).toEqual(["blob:", ...origins]);
});

it("lets the player read from the operator's own storages", () => {
  const allow = { networks: "none", origins: ["http://127.0.0.1:9000"] } as const;
  expect(sourcesOf(playerPolicy(allow, OWN), "connect-src")).toEqual(["https:", "http://127.0.0.1:9000"]);
});
