// Listens to the events of an account during a run.
import { env } from "cloudflare:workers";
import { JobEvent, NotificationEventData } from "#shared/api/account-responses.ts";
import { follow } from "../../events/socket-stream.ts";
import type { AccountRpc } from "../../rpc/account.ts";
import { direct } from "./fault-points.ts";

/** The statuses of the job and the ids of its notifications, in the order of their events. */
export type Heard = { readonly statuses: string[]; readonly notifications: string[]; readonly hasGap: boolean };

export class AccountListener {
  readonly #account: DurableObjectStub<AccountRpc>;
  #lastId: string | null = null;

  constructor(name: string) {
    this.#account = direct.stub(env.ACCOUNT, name);
  }

  /** Connects, remembers the last event, and disconnects. Events are kept for a day. */
  async listen(): Promise<void> {
    this.#lastId = /^id: (\d+)$/m.exec(await this.#read())?.[1] ?? null;
  }

  /** All events since `listen`, for a run of at most fifty events. */
  async heard(): Promise<Heard> {
    const events = (await this.#read()).matchAll(/^event: (\w+)\nid: \d+\ndata: (.*)$/gm);
    const all = [...events].map(([, event, data = ""]) => ({ event, data: JSON.parse(data) as unknown }));
    const of = (kind: string): unknown[] => all.filter(({ event }) => event === kind).map(({ data }) => data);
    return {
      statuses: of("job").map((data) => JobEvent.parse(data).status),
      notifications: of("notification").map((data) => NotificationEventData.parse(data).id),
      hasGap: of("gap").length > 0,
    };
  }

  /** The first text of a stream after its opening text. */
  async #read(): Promise<string> {
    const headers = this.#lastId === null ? {} : { "last-event-id": this.#lastId };
    const stream = await follow(this.#account, new Request("https://copra.test/v2/events", { headers }));
    const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
    await reader.read();
    const { value = "" } = await reader.read();
    await reader.cancel();
    return value;
  }
}
