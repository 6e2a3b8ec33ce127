import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fileFolder } from "../../test/fixtures.ts";
import { downloadAll } from "./download.ts";
import { referencesOf } from "./playlists.ts";
import { commonFolder, localPath, storageBase } from "./result-paths.ts";

describe("the files of a stream", () => {
  const at = "https://s.example.com/b/v/";

  it("include all files that HLS playlists name, except keys", () => {
    const master = `#EXTM3U
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",URI="x/audio.m3u8"
#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI="x/240p-keyframes.m3u8"
#EXT-X-STREAM-INF:BANDWIDTH=1
x/240p.m3u8
`;
    const media = `#EXTM3U\r\n#EXT-X-KEY:METHOD=AES-128,URI="https://keys.example.com/k"\r\n#EXT-X-MAP:URI="240p/init.mp4"\r\n#EXTINF:6,\r\n240p/00001.m4s\r\n#EXT-X-BYTERANGE:9@0\r\n240p/00001.m4s\r\n`;
    expect(referencesOf(`${at}master.m3u8`, master)).toEqual([
      `${at}x/audio.m3u8`,
      `${at}x/240p-keyframes.m3u8`,
      `${at}x/240p.m3u8`,
    ]);
    expect(referencesOf(`${at}x/240p.m3u8?token=1`, media)).toEqual([`${at}x/240p/init.mp4`, `${at}x/240p/00001.m4s`]);
  });

  it("include files of shared and own DASH templates, subtitles and thumbnails", () => {
    const template = (timeline: string) =>
      `<SegmentTemplate timescale="1" startNumber="1" initialization="x/$RepresentationID$/init.mp4" media="x/$RepresentationID$/$Number%05d$.m4s"><SegmentTimeline>${timeline}</SegmentTimeline></SegmentTemplate>`;
    const mpd = `<MPD><Period>
<AdaptationSet contentType="video">${template('<S t="0" d="6" r="1"/><S d="3"/>')}<Representation id="240p" codecs="a"/><Representation id="a&amp;b"/></AdaptationSet>
<AdaptationSet contentType="audio"><Representation id="audio">${template('<S t="0" d="6"/>')}</Representation></AdaptationSet>
<AdaptationSet contentType="text"><Representation id="s"><BaseURL>x/subtitles-1.vtt</BaseURL></Representation></AdaptationSet>
<AdaptationSet contentType="image"><SegmentTemplate startNumber="1" endNumber="2" media="x/thumbnails/$Number%05d$.jpg"/><Representation id="thumbnails"><EssentialProperty value="1x1"/></Representation></AdaptationSet>
</Period></MPD>`;
    const video = (id: string) =>
      ["init.mp4", "00001.m4s", "00002.m4s", "00003.m4s"].map((name) => `${at}x/${id}/${name}`);
    expect(referencesOf(`${at}master.mpd`, mpd)).toEqual([
      ...video("240p"),
      ...video("a&b"),
      `${at}x/audio/init.mp4`,
      `${at}x/audio/00001.m4s`,
      `${at}x/subtitles-1.vtt`,
      `${at}x/thumbnails/00001.jpg`,
      `${at}x/thumbnails/00002.jpg`,
    ]);
  });

  it("include the sprite sheets of a WebVTT file", () => {
    const vtt =
      "WEBVTT\n\n00:00.000 --> 00:05.000\nx/t/00001.jpg#xywh=0,0,160,90\n\n00:05.000 --> 00:10.000\nx/t/00001.jpg#xywh=160,0,160,90\n";
    expect(referencesOf(`${at}master.vtt`, vtt)).toEqual([`${at}x/t/00001.jpg`]);
  });
});

describe("the path of a result", () => {
  const base = "https://s.example.com/bucket/";
  it.each<[string[], string[], string | null]>([
    [["a/b.mp4"], [`${base}a/b.mp4`], base],
    [["b.mp4"], [`${base}b.mp4?signature=1`], base],
    [["/a/t-%02d.jpg"], [`${base}a/t-01.jpg`], base],
    [["v/hls/", "v/dash/"], [`${base}v/dash/master.mpd`], base],
    [["other/b.mp4"], [`${base}a/b.mp4`], null],
  ])("starts at the storage's folder: %j, %j", (paths, urls, expected) => {
    expect(storageBase([{ paths, urls }])).toBe(expected);
  });

  it.each<[string[], string | null]>([
    [[`${base}v/hls/master.m3u8?signature=1`, `${base}v/hls.mp4`], `${base}v/`],
    [[`${base}v/240/a.m3u8`, `${base}v/240p/a.m3u8`], `${base}v/`],
    [[`${base}a.mp4`], base],
    [[`${base}a.mp4`, "https://other.example.com/bucket/b.mp4"], null],
    [[], null],
  ])("starts at the common folder of the URLs without a known request: %j", (urls, expected) => {
    expect(commonFolder(urls)).toBe(expected);
  });

  it.each<[string, string | null, string, string]>([
    [`${base}run/a/b%20c.mp4`, base, "run/", "a/b c.mp4"],
    [`${base}a/b.mp4?signature=1`, base, "", "a/b.mp4"],
    [`${base}a/b.mp4`, null, "", "b.mp4"],
    [`${base}%2e%2e%2f%2e%2e%2fetc/passwd`, base, "", "__/__/etc/passwd"],
    [`${base}..%5c..%5cboot.ini`, base, "", "__/__/boot.ini"],
    [`${base}a/C%3a%2ab`, base, "", "a/C__b"],
    [`${base}`, base, "", "output"],
  ])("replaces parts that leave the folder in the path of %s below %s", (url, from, prefix, path) => {
    expect(localPath(url, from, prefix)).toBe(path);
  });
});

describe("downloadAll", () => {
  const folder = fileFolder();

  const base = "https://s.example.com/b/";
  const store: Record<string, string> = {
    [`${base}v/master.m3u8`]: "#EXTM3U\nx/240p.m3u8\nhttps://elsewhere.example.com/other.m3u8\n",
    [`${base}v/x/240p.m3u8`]: "#EXTINF:6,\n240p/1.ts\n240p/2.ts\n",
    [`${base}v/x/240p/1.ts`]: "one",
    [`${base}v/x/240p/2.ts`]: "two",
  };
  const options = { urls: [`${base}v/master.m3u8`], optional: [`${base}v/master.vtt`], base, prefix: "v/" };

  it("saves all files of a stream, retries, and reads nothing outside the storage's folder", async () => {
    const requests: string[] = [];
    const fetcher = async (url: string): Promise<Response> => {
      requests.push(url);
      const isFirst = requests.indexOf(url) === requests.length - 1;
      if (url.endsWith("1.ts") && isFirst) throw new TypeError("fetch failed");
      if (url.endsWith("2.ts") && isFirst) return new Response("", { status: 429 });
      const text = store[url];
      return text === undefined ? new Response("", { status: 404 }) : new Response(text);
    };
    const files = await downloadAll({ ...options, folder, fetcher, signal: AbortSignal.timeout(10_000) });
    expect(files.map(({ path, bytes }) => [path.slice(folder.length + 1), bytes]).toSorted()).toEqual([
      ["master.m3u8", 61],
      ["x/240p.m3u8", 31],
      ["x/240p/1.ts", 3],
      ["x/240p/2.ts", 3],
    ]);
    expect(readFileSync(join(folder, "x/240p/2.ts"), "utf8")).toBe("two");
    expect(requests.filter((url) => !url.startsWith(base))).toEqual([]);
  });

  it("rejects two files with the same path before it saves any file", async () => {
    const requests: string[] = [];
    const fetcher = async (url: string): Promise<Response> => {
      requests.push(url);
      return new Response("");
    };
    const urls = [`${base}240p/a.mp4`, `${base}480p/a.mp4`];
    const signal = AbortSignal.timeout(10_000);
    const saved = downloadAll({ urls, folder, fetcher, signal, optional: [], base: null, prefix: "" });
    await expect(saved).rejects.toThrow(/\/b\/240p\/a\.mp4 and \/b\/480p\/a\.mp4 .* the same file: .*a\.mp4$/);
    expect(requests).toEqual([]);
  });

  it("reads nothing from other hosts and a signed URL once, without a known storage folder", async () => {
    const texts: Record<string, string> = {
      [`${base}m.m3u8`]: `#EXTM3U\nsigned.m3u8\nsame.ts\nhttps://elsewhere.example.com/other.ts\n`,
      [`${base}signed.m3u8?signature=1`]: "#EXTM3U\n",
      [`${base}same.ts`]: "same",
    };
    const fetcher = async (url: string): Promise<Response> =>
      url in texts ? new Response(texts[url]) : new Response("", { status: 404 });
    const urls = [`${base}m.m3u8`, `${base}signed.m3u8?signature=1`];
    const signal = AbortSignal.timeout(10_000);
    const files = await downloadAll({ urls, folder, fetcher, signal, optional: [], base: null, prefix: "" });
    expect(files.map(({ url }) => url).toSorted()).toEqual(Object.keys(texts).toSorted());
  });

  it.each(["unwritable.m3u8", "unwritable.ts"])("reports that %s cannot be written", async (name) => {
    mkdirSync(join(folder, `${name}.part`));
    /** Sends the body later than the error of the file. */
    const fetcher = async (): Promise<Response> => {
      const body = new ReadableStream({
        async pull(controller) {
          await new Promise((resolve) => setTimeout(resolve, 50));
          controller.enqueue(new TextEncoder().encode("#EXTM3U\n"));
          controller.close();
        },
      });
      return new Response(body);
    };
    const signal = AbortSignal.timeout(10_000);
    const urls = [`${base}${name}`];
    const saved = downloadAll({ urls, folder, fetcher, signal, optional: [], base, prefix: "" });
    await expect(saved).rejects.toThrow(`/b/${name} cannot be downloaded: EISDIR`);
  });

  it("reports the HTTP status of a missing file", async () => {
    const fetcher = async (): Promise<Response> => new Response("", { status: 403 });
    const saved = downloadAll({ ...options, folder, fetcher, signal: AbortSignal.timeout(10_000) });
    await expect(saved).rejects.toThrow("/b/v/master.m3u8 cannot be downloaded: HTTP 403");
  });
});
