// One attempt of a delivery, as far as the account's object lets it go out now.
import { messageOf } from "#shared/log.ts";
import type { Admission } from "../../account/account-object.ts";
import { accountOf, log, settingsOf } from "../../env.ts";
import { deliver } from "../../notify/deliver.ts";
import { afterAttempt, isTaken, postponed, receiverOf } from "../../notify/outbox.ts";
import { openJobSecrets } from "../secrets/job-secrets.ts";
import type { Delivery, JobState } from "../state/job-state.ts";
import type { EffectDeps } from "./run-effect.ts";

/** Tries a delivery, or puts it off; what comes of it is in the job's outbox afterwards. */
export async function tryDelivery(delivery: Delivery, deps: EffectDeps): Promise<void> {
  const { id: jobId, accountId, notification } = deps.state().spec;
  const settings = settingsOf(deps.env);
  const secrets = await openJobSecrets(deps.state().spec, settings.sealingKeys);
  const receiver = receiverOf(notification, secrets.notification);
  const account = accountOf(deps.env, accountId);
  const admission = await unlessLost<Admission>(() => account.admitDelivery(receiver), { go: true, signWith: null });
  if (!admission.go) return deps.apply((state) => replaced(state, postponed(delivery, admission.at)));
  const signWith = admission.signWith ?? [secrets.webhook];
  const result = await deliver(delivery, notification, { jobId, secrets, signWith, settings, now: deps.now() });
  const after = afterAttempt(delivery, result, deps.now());
  deps.apply((state) => replaced(state, after));
  await unlessLost(() => account.deliveryEnded(receiver, isTaken(result)), undefined);
}

const replaced = (state: JobState, after: Delivery): JobState => ({
  ...state,
  outbox: state.outbox.map((delivery) => (delivery.id === after.id ? after : delivery)),
});

/** The account's object protects receivers; a client is notified even while that does not answer. */
async function unlessLost<Value>(call: () => Promise<Value>, otherwise: Value): Promise<Value> {
  try {
    return await call();
  } catch (error) {
    log.warn("The account's object does not answer", { error: messageOf(error) });
    return otherwise;
  }
}
