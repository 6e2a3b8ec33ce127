import { expect, it } from "vitest";
import { chainText, quoted } from "./filter-text.ts";

it.each(["'", "\\", "a'b", "a\\,b", "if(eq(N,0),0,PTS)'", "\\'"])("quotes no expression with %s", (text) => {
  expect(() => quoted(text)).toThrow("cannot be quoted");
});

it.each([
  "scale=1:2,movie=/etc/passwd",
  "scale=1:2;movie=/etc/passwd",
  "scale=w='1\\',movie=/etc/passwd'",
  "scale=w='1',movie='/etc/passwd'",
  "scale=1\\,movie=/etc/passwd",
  "scale=1[a]",
  "scale=1'",
  "movie=/etc/passwd",
  "movie=burn-0.nut:f=mov",
  "subtitles=/etc/passwd",
  "subtitles=burn-0.ass:fontsdir=/",
  "amovie=a",
  "",
])("writes no filter of a plan that has become another text: %s", (filter) => {
  expect(() => chainText(["null", filter])).toThrow("No filter of a plan");
});

it("writes quoted expressions with commas", () => {
  const expression = "if(eq(N,0)*lt(T,0.1),0,PTS-1/SR/TB)";
  expect(chainText(["aresample=48000", `asetpts=${quoted(expression)}`])).toBe(
    `aresample=48000,asetpts='${expression}'`,
  );
});
