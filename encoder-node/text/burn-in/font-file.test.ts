import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { beforeAll, expect } from "vitest";
import { it } from "../../../test/fixtures.ts";
import { glyphsIn, readFont } from "./font-file.ts";
import { findFonts, packagedFonts } from "./node-fonts.ts";

let bytes: Buffer;
beforeAll(async () => {
  const [first] = await packagedFonts();
  bytes = await readFile(first?.path ?? "");
});

it("finds the packaged fonts and the fonts of the operator's folder by family", async ({ folder }) => {
  await writeFile(join(folder, "own.TTF"), bytes);
  await writeFile(join(folder, "broken.ttf"), bytes.subarray(0, 2000));
  await writeFile(join(folder, "notes.txt"), "no font");
  const fonts = await findFonts(folder);
  expect([...fonts.keys()]).toEqual(["Noto Sans", "Noto Sans Arabic"]);
  expect(fonts.get("Noto Sans")?.map(({ path }) => path)).toContain(join(folder, "own.TTF"));
  await expect(findFonts(join(folder, "missing"))).rejects.toThrow("ENOENT");
});

it("rejects files that are no fonts, collections, and fonts that end early", () => {
  expect(readFont(bytes)).toMatchObject({ family: "Noto Sans" });
  for (const other of [
    Buffer.alloc(0),
    Buffer.from("<html>"),
    Buffer.from("ttcf\0\x01\0\0\0\0\0\x01"),
    bytes.subarray(0, 5e5),
  ])
    expect(readFont(other)).toBeNull();
});

it.each([
  ["Noto Sans", "Aßạ№ΩЖक", "ع中あ한שท\u{20000}"],
  ["Noto Sans Arabic", "عپ", "Ж中\u{20000}"],
])("%s has the letters %s and lacks %s", async (family, present, absent) => {
  const file = (await packagedFonts()).find((font) => font.family === family);
  const hasGlyph = glyphsIn(await readFile(file?.path ?? ""));
  const has = (text: string): boolean[] => [...text].map((letter) => hasGlyph(letter.codePointAt(0) ?? 0));
  expect(has(present)).not.toContain(false);
  expect(has(absent)).not.toContain(true);
});

it("reads damaged fonts without an error", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(3999), fc.nat(255)), { maxLength: 30 }), (changes) => {
      const damaged = Buffer.from(bytes);
      for (const [at, value] of changes) damaged[at] = value;
      const font = readFont(damaged);
      expect([true, false]).toContain(glyphsIn(damaged)(0x627));
      if (font) expect(font.family).toMatch(/^[A-Za-z0-9][A-Za-z0-9 ._+-]{0,79}$/);
    }),
    { numRuns: 300 },
  );
});
