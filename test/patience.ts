// Setup of every test file. vi.waitFor waits longer than vitest's default of 1 s, which a busy machine exceeds.
import { vi } from "vitest";
import { PATIENCE_MS } from "./patience-ms.ts";

const { waitFor } = vi;

vi.waitFor = (callback, options = {}) =>
  waitFor(callback, typeof options === "number" ? options : { timeout: PATIENCE_MS, ...options });
