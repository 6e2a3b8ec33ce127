// copra webhooks listen: receives the notifications of all jobs of the account. Reconnects as often as necessary.
import { createHash } from "node:crypto";
import { join } from "node:path";
import * as z from "zod";
import type { AccountEvent } from "../../client/index.ts";
import { clientOf } from "../client.ts";
import type { Run } from "../command-spec.ts";
import { type Env, folderOf } from "../connection/folders.ts";
import { readJsonFile, writeJsonFile } from "../connection/private-json.ts";
import type { Target } from "../connection/target.ts";
import { numberOption, textOption } from "../context.ts";
import { EXIT, endOf, Interrupted } from "../exit.ts";
import type { Output } from "../terminal/output.ts";
import { type Forwarded, forward, forwardUrl } from "./forward.ts";
import { listenSecret } from "./signing.ts";

type Webhook = { readonly id: string; readonly event: string; readonly body: string } & (
  | { readonly job_id: string }
  | { readonly upload_link_id: string }
);

export const listen: Run = async (context, _args, options) => {
  const { output, env, now, signal } = context;
  const secret = listenSecret(env);
  if (options.printSecret === true) {
    output.data({ webhook_secret: secret }, () => secret);
    return EXIT.done;
  }
  const receiver = textOption(options, "forwardTo");
  const url = receiver === undefined ? null : forwardUrl(receiver);
  const most = numberOption(options, "max", "--max") ?? Number.POSITIVE_INFINITY;
  const { copra, target } = await clientOf(context);
  const position = new Position(target, url, env, now);
  const lastEventId = (options.fromNow === true ? null : position.read()) ?? undefined;
  output.words(url === null ? "Listening; Ctrl-C ends it" : `Forwarding to ${url}; Ctrl-C ends it`);
  if (url !== null) output.words(`The secret that signs forwarded webhooks is ${secret}`);
  if (lastEventId !== undefined)
    output.words("Goes on after the last webhook of the last run; --from-now skips those since");
  const onReconnect = (error: unknown): void =>
    output.words(`Connection lost (${endOf(error).message}); connecting again`);
  const onWaiting = (): void => output.warn(`Nobody listens at ${url}; the webhook waits until somebody does`);
  let count = 0;
  try {
    for await (const event of copra.events({ signal, lastEventId, onReconnect })) {
      if (event.event === "gap")
        output.warn(
          "Webhooks were missed: the service no longer had them. copra webhooks ls <job> lists the webhooks of a job",
        );
      const webhook = webhookOf(event);
      if (webhook) {
        const forwarded = url === null ? null : await forward(webhook, { url, secret, signal, now, onWaiting });
        report(output, webhook, forwarded, now());
        count += 1;
      }
      // Store the position after forwarding, so that the next run receives events that were not forwarded.
      if (event.id !== "") position.write(event.id);
      if (count >= most) return EXIT.done;
    }
  } catch (error) {
    // Ctrl-C is the regular end.
    if (signal.aborted && signal.reason instanceof Interrupted) return EXIT.done;
    throw error;
  }
};

/** The webhook of an event; null if the event has none. */
function webhookOf({ event, data }: AccountEvent): Webhook | null {
  if (event === "notification") return data;
  if (event !== "upload") return null;
  const { upload_link_id } = data;
  return { id: `${upload_link_id}-${data.data.status}`, event: data.event, upload_link_id, body: JSON.stringify(data) };
}

function report(
  output: Output,
  { id, event, body, ...about }: Webhook,
  forwarded: Forwarded | null,
  nowMs: number,
): void {
  const time = new Date(nowMs).toTimeString().slice(0, 8);
  const { green, red, dim } = output.colors;
  const isTaken = forwarded?.status !== null && (forwarded?.status ?? 500) < 300;
  const result =
    forwarded === null
      ? ""
      : ` -> ${(isTaken ? green : red)(forwarded.status === null ? "no response" : `HTTP ${forwarded.status}`)}`;
  const took = forwarded === null ? "" : dim(` ${Math.round(forwarded.seconds * 1000)} ms`);
  output.line(
    { id, ...about, event, ...(forwarded ? { status: forwarded.status, seconds: forwarded.seconds } : { body }) },
    () => `${dim(time)} ${event} ${"job_id" in about ? about.job_id : about.upload_link_id}${result}${took}`,
  );
}

/** Position of `webhooks listen` in an account's events. The next run continues there. */
const PositionFile = z.object({ last_event_id: z.string(), at: z.number() });

/** The service keeps events for a day after the last listener. */
const MAX_AGE_MS = 24 * 3_600_000;

class Position {
  readonly #path: string;
  readonly #now: () => number;

  /** Keeps a position per service, account and receiver. */
  constructor({ url, key }: Target, receiver: string | null, env: Env, now: () => number) {
    const name = createHash("sha256")
      .update(JSON.stringify([url, key, receiver]))
      .digest("hex")
      .slice(0, 32);
    this.#path = join(folderOf("state", env), "listen", `${name}.json`);
    this.#now = now;
  }

  /** Returns the id of the last event, or null if there is none or it is too old to continue there. */
  read(): string | null {
    const position = readJsonFile(this.#path, PositionFile);
    return position && this.#now() - position.at < MAX_AGE_MS ? position.last_event_id : null;
  }

  write(lastEventId: string): void {
    writeJsonFile(this.#path, { last_event_id: lastEventId, at: this.#now() });
  }
}
