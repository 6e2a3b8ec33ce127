import { expect, it } from "vitest";
import { shellCommand, shellQuote } from "./shell-quote.ts";

it("quotes only arguments that a shell would change", () => {
  expect(shellCommand(["-i", "source", "-vf", "scale=-2:720,fps=25"])).toBe("ffmpeg -i source -vf scale=-2:720,fps=25");
});

it.each([
  ["plain-1.mp4", "plain-1.mp4"],
  ["a b", "'a b'"],
  ["it's", "'it'\\''s'"],
  ["$(rm)", "'$(rm)'"],
  ["", "''"],
])("quotes %s for a shell", (argument, expected) => expect(shellQuote(argument)).toBe(expected));
