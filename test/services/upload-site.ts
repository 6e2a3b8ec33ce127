// A page with a file field that sends the file with tus-js-client, Uppy or @copra/client.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { build } from "esbuild";
import { ROOT } from "../../local/home/constants.ts";

/** The page's functions. Each resolves with "done", or with the error as text. */
const SCRIPT = `
import { Upload } from "tus-js-client";
import Uppy from "@uppy/core";
import Tus from "@uppy/tus";
import { upload } from ${JSON.stringify(join(ROOT, "client", "index.ts"))};

const file = () => document.querySelector("input").files[0];
const retryDelays = [0, 50, 100, 200, 400, 800, 800, 800];

window.tus = (endpoint, options) => new Promise((resolve) => {
  const sent = new Upload(file(), {
    endpoint, retryDelays, metadata: { filename: file().name }, ...options,
    onProgress: (bytes) => { window.sentBytes = bytes; },
    onSuccess: () => resolve("done"),
    onError: (error) => resolve(String(error.originalResponse?.getStatus() ?? error)),
  });
  sent.findPreviousUploads().then((previous) => {
    if (previous[0]) sent.resumeFromPreviousUpload(previous[0]);
    sent.start();
  });
});

window.uppy = async (endpoint, chunkSize) => {
  const uppy = new Uppy().use(Tus, { endpoint, chunkSize, retryDelays });
  uppy.addFile({ name: file().name, type: file().type, data: file() });
  const { successful, failed } = await uppy.upload();
  return successful.length === 1 ? "done" : String(failed[0]?.error);
};

window.plain = (url) => upload(file(), url).then(() => "done", (error) => error.code + " " + error.status);
window.ready = true;
`;

export async function startUploadSite(): Promise<{ origin: string; close(): Promise<void> }> {
  const built = await build({
    stdin: { contents: SCRIPT, resolveDir: ROOT },
    bundle: true,
    write: false,
    format: "esm",
    platform: "browser",
  });
  const script = built.outputFiles[0]?.text ?? "";
  const server = createServer((request, response) => {
    if (request.url === "/page.js") {
      response.writeHead(200, { "content-type": "text/javascript" }).end(script);
    } else {
      response
        .writeHead(200, { "content-type": "text/html" })
        .end('<!doctype html><input type="file"><script type="module" src="/page.js"></script>');
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
