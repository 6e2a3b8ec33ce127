// Setup of every test file. vi.waitFor waits longer than vitest's default of 1 s, which a busy machine exceeds.
import { vi } from "vitest";

const { waitFor } = vi;
const TIMEOUT_MS = 240_000;

vi.waitFor = (callback, options = {}) =>
  waitFor(callback, typeof options === "number" ? options : { timeout: TIMEOUT_MS, ...options });
