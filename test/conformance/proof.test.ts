import { expect, it } from "vitest";
import { whyNoProof } from "./proof.ts";

it.each([
  ['it("a", () => expect(1).toBe(1));', null],
  ['it.each([1, 2])("a", async (n) => { expect(n).toBe(n); });', null],
  ['describe("b", () => { it("a", () => expectFrames()); });', null],
  ['it("b", () => expect("a").toBe("a"));', "There is no test “a”"],
  ['// it("a", () => expect(1).toBe(1));', "There is no test “a”"],
  ['describe("a", () => { it("b", () => expect(1).toBe(1)); });', "There is no test “a”"],
  ['it("a", () => {});', "The test “a” asserts nothing"],
  ['it("a");', "The test “a” asserts nothing"],
  ['it.skip("a", () => expect(1).toBe(1));', "The test “a” is skipped"],
  ['describe.skip("b", () => { it("a", () => expect(1).toBe(1)); });', "The test “a” is skipped"],
])("finds that the file %s proves the row by the test “a”, or why not: %s", (source, reason) => {
  expect(whyNoProof("a.test.ts", source, "a")).toBe(reason);
});
