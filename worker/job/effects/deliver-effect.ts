// Attempts to deliver a notification, if the account's object admits it now.

import { messageOf } from "#shared/log.ts";
import { receiversOf } from "#shared/request/notification-section.ts";
import { withDeadline } from "../../deadline.ts";
import { log } from "../../log.ts";
import { deliver } from "../../notify/deliver.ts";
import { type Delivery, targetOf } from "../../notify/delivery.ts";
import { afterAttempt, isDelivered, postponed, receiverOf } from "../../notify/outbox.ts";
import { type Admission, accountOf } from "../../rpc/account.ts";
import { settingsOf } from "../../settings.ts";
import { openJobSecrets } from "../secrets/job-secrets.ts";
import type { JobState } from "../state/job-state.ts";
import { dueEvents } from "./account-events.ts";
import type { EffectDeps } from "./effect.ts";

/** Tries a delivery or postpones it, and updates the job's outbox. */
export async function tryDelivery(delivery: Delivery, deps: EffectDeps): Promise<void> {
  const { spec } = deps.state();
  const { id: jobId, accountId, trace } = spec;
  const notification = targetOf(delivery, spec);
  const settings = settingsOf(deps.env);
  const secrets = await openJobSecrets(spec, settings.sealingKeys);
  const secret = receiversOf(secrets)[delivery.receiver ?? 0] ?? secrets.notification;
  const receiver = receiverOf(notification, secret);
  const account = accountOf(deps.env, accountId);
  const { events, emitted } = dueEvents(deps.state());
  const admit = async (): Promise<Admission> => {
    const admitted = await withDeadline<Admission>("admitDelivery", account.admitDelivery(receiver, events));
    deps.note((state) => ({ ...state, emitted }));
    return admitted;
  };
  const admission = await orDefault<Admission>(admit, { go: true, signWith: null });
  if (!admission.go) return deps.note((state) => replaced(state, postponed(delivery, admission.at)));
  const result = await deliver(delivery, notification, {
    jobId,
    receiver: secret,
    signWith: admission.signWith ?? [secrets.webhook],
    settings,
    now: deps.now(),
    trace,
  });
  const after = afterAttempt(delivery, result, deps.now());
  // If this is lost, the notification is sent again, with the same id.
  deps.note((state) => replaced(state, after));
  await orDefault(() => withDeadline("deliveryEnded", account.deliveryEnded(receiver, isDelivered(result))), undefined);
}

const replaced = (state: JobState, after: Delivery): JobState => ({
  ...state,
  outbox: state.outbox.map((delivery) => (delivery.id === after.id ? after : delivery)),
});

/** The account's object protects receivers from overload. Clients are notified even while it does not respond. */
async function orDefault<Value>(call: () => Promise<Value>, otherwise: Value): Promise<Value> {
  try {
    return await call();
  } catch (error) {
    log.warn("account object not reachable", { error: messageOf(error) });
    return otherwise;
  }
}
