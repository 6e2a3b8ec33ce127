import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { specOf } from "#shared/testing/output-specs.ts";
import { fileFolder, startServer, untilEnd } from "../../test/fixtures.ts";
import { locateFfmpeg } from "../ffmpeg/discover/locate.ts";
import { runCommand } from "../ffmpeg/run-command.ts";
import { fetchWatermarks } from "./fetch-extra.ts";

const { ffmpeg, ffprobe } = await locateFfmpeg(process.env);
const FILES: Readonly<Record<string, string>> = {
  "logo.png": "color=red@0.5:s=64x64,format=rgba",
  "wide.png": "color=red:s=5000x8",
};
const TEXTS: Readonly<Record<string, string>> = {
  "/page.png": "<html>Not found</html>",
  "/drawing.png": '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>',
  "/list.png": "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nhttp://127.0.0.1/a.ts\n",
};

const folder = fileFolder();
const requested: string[] = [];
const server = untilEnd(
  await startServer((request, response) => {
    const path = request.url ?? "";
    requested.push(path);
    const name = path.slice(1);
    if (path === "/large.png") return response.writeHead(200, { "content-length": "20000001" }).end("x");
    if (path in TEXTS) return response.end(TEXTS[path]);
    if (!(name in FILES)) return response.writeHead(404).end();
    return readFile(join(folder, name)).then((bytes) => response.end(bytes));
  }),
);

beforeAll(async () => {
  for (const [name, source] of Object.entries(FILES)) {
    const argv = ["-v", "error", "-f", "lavfi", "-i", source, "-frames:v", "1", name];
    expect(await runCommand({ path: ffmpeg.path, argv, cwd: folder, stallMs: 20_000 })).toEqual({ ok: true });
  }
});

const host = (): string => `127.0.0.1:${server.port}`;
const fetchAll = (paths: readonly string[], allowPrivate: "none" | "loopback") => {
  const outputs = paths.map((path, index) => {
    const url = `http://user:secret@${host()}${path}`;
    return specOf({ format: "mp4", params: { watermark: { url } } }, index);
  });
  return fetchWatermarks(outputs, folder, { ffprobe, allowPrivate, signal: new AbortController().signal });
};

it("fetches each watermark once, and explains why a file cannot be used", async () => {
  const paths = ["/logo.png", "/wide.png", "/none.png", "/large.png", ...Object.keys(TEXTS)];
  const { files, failed } = await fetchAll([...paths, "/logo.png"], "loopback");
  expect(requested.toSorted()).toEqual(paths.toSorted());
  expect([...files.keys()]).toEqual([expect.stringContaining("/logo.png")]);
  const of = (reason: string) => ({
    code: "watermark_failed",
    message: `The watermark from the host \`${host()}\` cannot be used: ${reason}.`,
  });
  const notImage = of("it is not a readable image (PNG, JPEG, WebP, GIF, BMP or TIFF)");
  expect(failed.map(({ failure }) => failure)).toEqual([
    of("it has 5000x8 pixels, but at most 4096 per side are allowed"),
    of("the host responded with HTTP 404"),
    of("it is larger than 20 MB"),
    ...[notImage, notImage, notImage],
  ]);
});

it("reaches allowed addresses only", async () => {
  requested.length = 0;
  const { failed } = await fetchAll(["/logo.png"], "none");
  const failure = { code: "watermark_failed", message: expect.stringContaining("not public") };
  expect(failed).toMatchObject([{ output: 0, failure }]);
  expect(requested).toEqual([]);
});
