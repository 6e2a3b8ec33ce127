// A server with the part of Amazon SNS that tests in workerd need, because workerd cannot start servers. Accepts only
// requests with the signature that another implementation (aws4) computes.
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import aws4 from "aws4";
import type { TestProject } from "vitest/node";

const KEYS = { accessKeyId: "AKIASNSTEST", secretAccessKey: "sns/secret+key" };
const REGION = "eu-west-1";

declare module "vitest" {
  interface ProvidedContext {
    sns: typeof KEYS & { endpoint: string; region: string };
  }
}

/** Topics (the last part of the ARN) that answer with an error of SNS, or with a redirect. */
const RESPONSES: ReadonlyMap<string, [status: number, code: string]> = new Map([
  ["denied", [403, "AuthorizationError"]],
  ["missing", [404, "NotFound"]],
  ["busy", [429, "Throttled"]],
  ["moved", [302, ""]],
]);

export default async function setup(project: TestProject): Promise<() => void> {
  /** Published messages, by the topic's ARN. */
  const published = new Map<string, Record<string, string>[]>();
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "", "http://sns");
    if (request.method === "GET") {
      response.end(JSON.stringify(published.get(url.searchParams.get("topic") ?? "") ?? []));
      return;
    }
    const body = await text(request);
    const parameters = Object.fromEntries(new URLSearchParams(body));
    const [status, code] = isSigned(request, body) ? take(parameters) : ([403, "SignatureDoesNotMatch"] as const);
    if (status === 200) {
      const topic = parameters.TopicArn ?? "";
      published.set(topic, [...(published.get(topic) ?? []), parameters]);
    }
    response.writeHead(status, { "content-type": "text/xml", ...(status === 302 ? { location: "/elsewhere" } : {}) });
    response.end(
      status === 200
        ? "<PublishResponse><PublishResult><MessageId>1</MessageId></PublishResult></PublishResponse>"
        : `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>of ${KEYS.secretAccessKey}</Message></Error></ErrorResponse>`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  project.provide("sns", { ...KEYS, endpoint: `http://127.0.0.1:${port}`, region: REGION });
  return () => {
    server.closeAllConnections();
    server.close();
  };
}

/** True if aws4 computes the same signature over the relevant headers from the same request, keys and time. */
function isSigned({ headers, url = "/", method = "POST" }: IncomingMessage, body: string): boolean {
  const { authorization = "", host, "content-type": type, "x-amz-date": date = "" } = headers;
  const request = { service: "sns", region: REGION, method, path: url, body, doNotModifyHeaders: true };
  const signed = { Host: host, "Content-Type": type, "X-Amz-Date": date };
  const signer = new aws4.RequestSigner({ ...request, headers: signed }, KEYS);
  signer.datetime = String(date);
  return authorization !== "" && authorization === signer.sign().headers?.Authorization;
}

function take(parameters: Record<string, string>): readonly [status: number, code: string] {
  const { Action, Version, TopicArn = "", Message = "", MessageGroupId, MessageDeduplicationId } = parameters;
  const known = RESPONSES.get(TopicArn.split(":").at(-1) ?? "");
  if (known) return known;
  const ordered = !TopicArn.endsWith(".fifo") || (MessageGroupId && MessageDeduplicationId);
  const fine = Action === "Publish" && Version === "2010-03-31" && ordered && Buffer.byteLength(Message) <= 262_144;
  return fine ? [200, ""] : [400, "InvalidParameter"];
}
