// The usage of an account, fonts for burnt-in captions, and the events of all jobs of an account.
import type { FontList } from "#shared/api/account-responses.ts";
import { follow } from "../../events/socket-stream.ts";
import { accountOf } from "../../rpc/account.ts";
import { allPools, askAvailableHubs } from "../fleet/ask-hubs.ts";
import { mount } from "../operation/mount.ts";
import { eventStream } from "../responses/event-stream.ts";
import { jsonResponse } from "../responses/json-response.ts";
import { ACCOUNT_OPERATIONS } from "./account.operations.ts";
import { auditPage } from "./audit.ts";
import { getUsage } from "./usage.ts";

export const account = mount(ACCOUNT_OPERATIONS, {
  getUsage,
  listAudit: (context) => auditPage(context, context.get("account").id),
  listFonts: async (context) => {
    const { answers } = await askAvailableHubs(context.env, await allPools(context.env), (hub) => hub.demand());
    const names = new Set(answers.flatMap((report) => report.fonts));
    return jsonResponse(context, { fonts: [...names].sort() } satisfies FontList);
  },
  followAccount: async (context) =>
    eventStream(await follow(accountOf(context.env, context.get("account").id), context.req.raw)),
});
