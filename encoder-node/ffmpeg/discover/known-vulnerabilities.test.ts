import { expect, test } from "vitest";
import { knownVulnerabilities } from "./known-vulnerabilities.ts";

const [MAGICYUV, CENC] = ["CVE-2026-8461", "CVE-2026-40962"];

test.each([
  ["8.1.2", [], []],
  ["n8.1.2-3-gabcdef1234-20260801", [], []],
  ["8.2", [], []],
  ["10", [], []],
  ["8.1.1", [MAGICYUV], []],
  ["8.0.3", [], [CENC]],
  ["n8.0.1-40-gabb609bb58-20260107", [MAGICYUV], [CENC]],
  ["7.1.5", [], []],
  ["7.1.4", [MAGICYUV], []],
  ["7.1", [MAGICYUV, CENC], []],
  ["n7.0-7-gd38bf5e08e-20240407", [MAGICYUV, CENC], []],
  ["6.1.6", [], [CENC]],
  ["5.1.10-0+deb12u1", [], [CENC]],
  ["5.1.9-0+deb12u1", [MAGICYUV], [CENC]],
  ["5.1.9-0+deb12u2", [], [MAGICYUV, CENC]],
  ["4.4.2-0ubuntu0.22.04.1", [], [MAGICYUV, CENC]],
  ["4.4.2", [MAGICYUV, CENC], []],
  ["N-66595-gc2b38619c0-static", [], [MAGICYUV, CENC]],
  ["2026-07-01-git-abc", [], [MAGICYUV, CENC]],
])("%s is affected by %j and may be affected by %j", (version, affected, unknown) => {
  expect(knownVulnerabilities(version)).toEqual({ affected, unknown });
});
