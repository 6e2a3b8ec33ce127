// A receiver of webhooks and an SMTP server, for tests in workerd, which cannot start servers. Messages to
// `<url>/<name>` and to `<name>@example.com` are listed at GET `<url>/<name>`, also webhooks that were refused.
// PUT `<url>/<name>` sets the status of its responses; a 5xx also refuses e-mail.
import { createServer } from "node:http";
import { type AddressInfo, createServer as createSocketServer, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    inbox: { url: string; smtp: string };
  }
}

type Received = { readonly headers: object; readonly body: string; readonly status: number };

export default async function setup(project: TestProject): Promise<() => void> {
  const inboxes = new Map<string, { status: number; received: Received[] }>();
  const inboxOf = (name: string) => {
    const inbox = inboxes.get(name) ?? { status: 200, received: [] };
    inboxes.set(name, inbox);
    return inbox;
  };
  const http = createServer(async (request, response) => {
    const { url = "", method, headers } = request;
    const inbox = inboxOf(url.slice(1));
    const body = await text(request);
    if (method === "GET") return void response.end(JSON.stringify(inbox.received));
    if (method === "PUT") inbox.status = Number(body);
    else inbox.received.push({ headers, body, status: inbox.status });
    response.writeHead(method === "PUT" ? 204 : inbox.status).end();
  });
  const smtp = createSocketServer((socket) => talk(socket, inboxOf));
  const ports = await Promise.all(
    [http, smtp].map(async (server) => {
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return (server.address() as AddressInfo).port;
    }),
  );
  project.provide("inbox", { url: `http://127.0.0.1:${ports[0]}`, smtp: `smtp://127.0.0.1:${ports[1]}` });
  return () => {
    http.closeAllConnections();
    http.close();
    smtp.close();
  };
}

/** The part of SMTP (RFC 5321) that a client needs to send a message. */
function talk(socket: Socket, inboxOf: (name: string) => { status: number; received: Received[] }): void {
  let names: string[] = [];
  let data: string | null = null;
  let rest = "";
  const respond = (line: string): void => void socket.write(`${line}\r\n`);
  const take = (line: string): void => {
    const [, name = ""] = /^RCPT TO:<(.*)@/i.exec(line) ?? [];
    if (data !== null && line !== ".") data += `${line}\n`;
    else if (data !== null) {
      for (const name of names) inboxOf(name).received.push({ headers: { to: names }, body: data, status: 250 });
      [names, data] = [[], null];
      respond("250 accepted");
    } else if (/^DATA/i.test(line)) {
      data = "";
      respond("354 go on");
    } else if (/^QUIT/i.test(line)) socket.end("221 bye\r\n");
    else if (name !== "" && inboxOf(name).status >= 500) respond("550 no such mailbox");
    else {
      if (name !== "") names.push(name);
      respond("250 ok");
    }
  };
  socket.setEncoding("utf8").on("error", () => socket.destroy());
  socket.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\r\n");
    rest = lines.pop() ?? "";
    for (const line of lines) take(line);
  });
  respond("220 inbox");
}
