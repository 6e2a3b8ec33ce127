// A program in place of ffmpeg could leave links to files of the node in its folder.
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { fileFolder } from "../../test/fixtures.ts";
import { openIfThere } from "../run-files/open-file.ts";
import { fileContent, rangeContent } from "./content.ts";
import { madeFile } from "./made-file.ts";

const folder = fileFolder();
let link: string;
beforeAll(async () => {
  link = join(folder, "output.mp4");
  await writeFile(join(folder, "token"), "n-secret");
  await symlink(join(folder, "token"), link);
});

it("reads no file of the node through a link in the place of an output", async () => {
  const read = async (): Promise<void> => {
    for await (const bytes of rangeContent(link, 0, 8).read(0, 8)) throw new Error(`read ${bytes.length} bytes`);
  };
  await expect(madeFile(link)).rejects.toMatchObject({ code: "encoding_failed" });
  await expect(fileContent(link)).rejects.toMatchObject({ code: "node_failed" });
  await expect(read()).rejects.toMatchObject({ code: "node_failed" });
  await expect(openIfThere(link)).rejects.toMatchObject({ code: "ELOOP" });
});
