// A page that sends a video from the browser to the service, and the backend of the page, which has the API key.
// Usage: COPRA_KEY=k-… PORT=3000 node examples/upload-page.ts
import { createServer } from "node:http";
import { env } from "node:process";

const { COPRA_URL = "http://127.0.0.1:8787", COPRA_KEY = "", PORT = "3000" } = env;
const { COPRA_STORAGE = '{"service":"coconut"}', COPRA_WEBHOOK = "https://example.com/webhook" } = env;

async function copra(method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${COPRA_URL}/v2${path}`, {
    method,
    headers: { authorization: `Basic ${btoa(`${COPRA_KEY}:`)}` },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return response.json();
}

/** A real service creates links only for users who are signed in. */
const createLink = (): Promise<unknown> =>
  copra("POST", "/upload-links", {
    max_size: 5e9,
    origins: [origin()],
    job: {
      storage: JSON.parse(COPRA_STORAGE),
      outputs: { "mp4:360p": { path: "examples/upload-page/360p.mp4" } },
      notification: { type: "http", url: COPRA_WEBHOOK },
    },
  });

/** Sends the file in parts. After a reload, the same file continues in the same link with its missing parts. */
const PAGE = `<!doctype html>
<title>Upload a video</title>
<input type="file" accept="video/*"> <progress value="0"></progress> <output></output>
<script type="module">
  const [input, progress, output] = document.querySelectorAll("input, progress, output");

  async function call(url, options) {
    for (let attempt = 1; ; attempt++) {
      try {
        const response = await fetch(url, options);
        if (response.ok) return await response.json();
        const { message } = await response.json();
        if (response.status < 500 && response.status !== 429) throw Object.assign(new Error(message), { isFinal: true });
      } catch (error) {
        if (error.isFinal || attempt === 10) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, 500 * attempt));
    }
  }

  async function send(file) {
    const key = [file.name, file.size, file.lastModified].join();
    const link = JSON.parse(localStorage[key] ?? "null") ?? (await call("/links", { method: "POST" }));
    localStorage[key] = JSON.stringify(link);
    const upload = await call(link.url, { method: "POST", body: JSON.stringify({ name: file.name, size: file.size }) });
    const stored = new Set(upload.parts.map(({ number }) => number));
    for (let start = 0, number = 1; start < file.size; start += upload.part_size, number++) {
      const body = file.slice(start, start + upload.part_size);
      if (!stored.has(number)) await call(link.url + "/parts/" + number, { method: "PUT", body });
      progress.value = Math.min(1, (start + upload.part_size) / file.size);
    }
    await call(link.url + "/complete", { method: "POST" });
    localStorage.removeItem(key);
    return call("/links/" + link.id);
  }

  input.addEventListener("change", () => {
    send(input.files[0]).then(
      ({ job }) => { output.value = "The job is " + job; },
      (error) => { output.value = error.message; },
    );
  });
</script>`;

const server = createServer(async (request, response) => {
  const { method, url = "/" } = request;
  const json = (body: unknown) =>
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  const [, id] = /^\/links\/(\w+)$/.exec(url) ?? [];
  try {
    if (method === "POST" && url === "/links") json(await createLink());
    else if (id) json(await copra("GET", `/upload-links/${id}`));
    else response.writeHead(200, { "content-type": "text/html" }).end(PAGE);
  } catch (error) {
    response.writeHead(502, { "content-type": "application/json" }).end(JSON.stringify({ message: String(error) }));
  }
});
server.listen(Number(PORT), "127.0.0.1", () => console.log(`open ${origin()}`));

function origin(): string {
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : PORT}`;
}
