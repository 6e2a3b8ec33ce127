import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { shellCommand, shellQuote } from "./shell-quote.ts";

it("quotes what a shell would change, and nothing else", () => {
  expect(shellCommand(["-i", "source", "-vf", "scale=-2:720,fps=25"])).toBe("ffmpeg -i source -vf scale=-2:720,fps=25");
  const hostile = [
    "",
    " ",
    "it's",
    '"$HOME"',
    "a\nb",
    "`id`",
    "*",
    "~",
    "-x",
    "a\\b",
    "!1",
    "é",
    "#no",
    "{a,b}",
    "a;b",
  ];
  const printed = execFileSync("sh", ["-c", `printf '%s\\0' ${hostile.map(shellQuote).join(" ")}`], {
    encoding: "utf8",
  });
  expect(printed.split("\0").slice(0, -1)).toEqual(hostile);
});
