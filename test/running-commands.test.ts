// The commands of a job while its node works.
import { expect, it } from "vitest";
import { RunningCommandList } from "#shared/api/command-responses.ts";
import { sharedStack } from "./stack.ts";

const stack = sharedStack();

it("a client sees the command of a running encode and its progress, without secrets and paths", async () => {
  const url = new URL("/assets/sample.mp4", stack.api).href;
  const outputs = { "mp4:hevc_1080p": { path: "running/slow.mp4" } };
  const { id } = await stack.submit({ input: { url: `${url}?secret=hunter2` }, outputs });
  const running = async () => {
    const list = RunningCommandList.parse((await stack.request("GET", `/jobs/${id}/running`)).body);
    // A message of the encoder may come before the line about the progress.
    return list.commands.find(({ output }) => /^frame=\d+.*$/m.test(output));
  };
  await expect.poll(running).toMatchObject({ task: "encode", attempt: 1 });
  const text = JSON.stringify(await running()) ?? "";
  expect(text).not.toMatch(/hunter2|whitelist|\/work\//);
  await stack.request("DELETE", `/jobs/${id}`);
  await stack.waitForJob(id);
  expect(await running()).toBeUndefined();
});
