// Serves the page with the players. Below /media/ it forwards to another server, so that all has the same origin.
import { type IncomingMessage, request, type ServerResponse } from "node:http";
import { join } from "node:path";
import { build } from "esbuild";
import { type LoopbackServer, serveLoopback } from "../../local/demo/loopback-server.ts";
import { ROOT } from "../../local/home/constants.ts";

const PAGE = `<!doctype html><meta charset="utf-8"><title>Player</title><body style="margin:0">
<video muted playsinline style="width:100vw;height:100vh"></video><script src="/stage.js"></script>`;

export type PlayerSite = LoopbackServer & {
  /** The address in this origin for the file at `url`. */
  through(url: string): string;
};

/** `key`: 16 bytes, served at /key. */
export async function startPlayerSite(key: Uint8Array = new Uint8Array(16)): Promise<PlayerSite> {
  const script = await bundle();
  const server = await serveLoopback((incoming, answer) => {
    const { pathname } = new URL(incoming.url ?? "/", "http://127.0.0.1");
    if (pathname === "/") answer.writeHead(200, { "content-type": "text/html" }).end(PAGE);
    else if (pathname === "/stage.js") answer.writeHead(200, { "content-type": "text/javascript" }).end(script);
    else if (pathname === "/key") answer.writeHead(200, { "content-type": "application/octet-stream" }).end(key);
    else if (pathname.startsWith("/media/")) forward(incoming, answer);
    else answer.writeHead(pathname === "/favicon.ico" ? 204 : 404).end();
  });
  return { ...server, through: (url) => url.replace(/^http:\/\//, `${server.origin}/media/`) };
}

/** Forwards `/media/<host>/<path>` to `http://<host>/<path>`; GET only. */
function forward({ url = "", headers }: IncomingMessage, answer: ServerResponse): void {
  const { range } = headers;
  const upstream = request(url.replace("/media/", "http://"), { headers: range === undefined ? {} : { range } });
  upstream.on("response", (response) => {
    answer.writeHead(response.statusCode ?? 502, response.headers);
    response.pipe(answer);
  });
  upstream.on("error", () => answer.destroy());
  answer.on("close", () => upstream.destroy());
  upstream.end();
}

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, "test/players/page/stage.ts")],
    bundle: true,
    write: false,
    format: "iife",
    logLevel: "error",
  });
  return outputFiles[0]?.text ?? "";
}
