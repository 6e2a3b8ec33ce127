// A real Azure emulator for tests in workerd, which cannot start servers.
import type { TestProject } from "vitest/node";
import { type AzureContainer, startAzurite } from "./azurite.ts";

declare module "vitest" {
  interface ProvidedContext {
    azure: AzureContainer;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { stop, ...container } = await startAzurite();
  project.provide("azure", container);
  return stop;
}
