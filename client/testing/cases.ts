// Tests of the client for every runtime. Node, workerd, browsers and other runtimes run these cases on a server that
// behaves as badly as the network does (test/services/client-service.ts).
import { REQUEST_CASES } from "./request-cases.ts";
import type { Case } from "./scenario.ts";
import { STREAM_CASES } from "./stream-cases.ts";
import { UPLOAD_CASES } from "./upload-cases.ts";
import { WEBHOOK_CASES } from "./webhook-cases.ts";

export const CASES: readonly Case[] = [...REQUEST_CASES, ...STREAM_CASES, ...UPLOAD_CASES, ...WEBHOOK_CASES];
