// Clients that follow a job and disappear silently: from the service's front through the Worker to the job's object.
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { expect, it, vi } from "vitest";
import { basicAuth } from "../local/stack/access.ts";
import { sharedStack } from "./stack.ts";

const stack = sharedStack();

it("makes room for others when the connections of followers break", async () => {
  const outputs = { "mp4:240p": { path: "never.mp4" } };
  const settings = { require: ["a-label-that-no-node-has"] };
  const { id } = await stack.submit({ input: { url: "https://media.example.com/a.mp4" }, outputs, settings });
  const follow = async (): Promise<IncomingMessage> => {
    const request = get(`${stack.api}/jobs/${id}/events`, {
      headers: { authorization: basicAuth(stack.apiKey), "user-agent": "a-test" },
    });
    request.on("error", () => undefined);
    const [answer] = (await once(request, "response")) as [IncomingMessage];
    answer.on("error", () => undefined);
    return answer;
  };
  const all = await Promise.all(Array.from({ length: 20 }, follow));
  const firsts = await Promise.all(all.map(async (answer) => String((await once(answer, "data"))[0])));
  expect(firsts.every((text) => text.startsWith("retry: 2000\n"))).toBe(true);
  const refused = await follow();
  expect(refused.statusCode).toBe(429);
  for (const answer of [...all, refused]) answer.destroy();
  await vi.waitFor(async () => {
    const answer = await follow();
    answer.destroy();
    expect(answer.statusCode).toBe(200);
  });
  await stack.request("DELETE", `/jobs/${id}`);
});
