// A server whose answers are part of the request's URL, for tests in workerd, which cannot start servers:
// `<origin>/<base64url of an Answer in JSON>/whatever/follows`.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestProject } from "vitest/node";

type Answer = {
  status: number;
  headers?: Record<string, string>;
  body?: string;
  /** The expected Authorization header; any other is answered with 401. */
  authorization?: string;
  /** The region whose signatures get a multipart upload in place of this answer. */
  region?: string;
  /** True if the body is the request's headers, in JSON. */
  echo?: boolean;
};

declare module "vitest" {
  interface ProvidedContext {
    answers: string;
  }
}

export default async function setup(project: TestProject): Promise<() => void> {
  const server = createServer((request, response) => {
    const [, encoded = ""] = (request.url ?? "").split("/");
    if (encoded === "") return void response.writeHead(404).end();
    const answer = JSON.parse(Buffer.from(encoded, "base64url").toString()) as Answer;
    const { status, headers = {}, body = "", authorization, region, echo = false } = answer;
    request.resume().once("end", () => {
      if (authorization !== undefined && request.headers.authorization !== authorization) {
        return void response.writeHead(401).end('{"status": 401, "code": "unauthorized", "message": ""}');
      }
      if (region !== undefined && request.headers.authorization?.includes(`/${region}/s3/`)) {
        const upload = "<InitiateMultipartUploadResult><UploadId>here</UploadId></InitiateMultipartUploadResult>";
        return void response.writeHead(request.method === "DELETE" ? 204 : 200).end(upload);
      }
      response.writeHead(status, headers).end(echo ? JSON.stringify(request.headers) : body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  project.provide("answers", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return () => {
    server.closeAllConnections();
    server.close();
  };
}
