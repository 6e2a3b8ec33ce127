// A delivery before its first attempt, for tests.
import type { Delivery } from "../notify/delivery.ts";

export const PENDING: Delivery = {
  id: "msg_1",
  event: "job.completed",
  body: "{}",
  createdAt: 0,
  attempts: 0,
  earlierAttempts: 0,
  nextAt: 0,
  state: "due",
  lastResult: null,
};
