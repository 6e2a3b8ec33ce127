// Notifications of type `sns`: messages published to a topic of Amazon SNS (API Reference, Publish).
import { AwsClient } from "aws4fetch";
import type { SnsNotification } from "#shared/request/notification-section.ts";
import type { Delivery } from "../job/state/job-state.ts";
import { readLimited } from "../read-limited.ts";
import type { DeliveryDeps } from "./deliver.ts";
import type { DeliveryResult } from "./outbox.ts";
import { send } from "./send.ts";

const API_VERSION = "2010-03-31";
/** An error of SNS takes a few hundred bytes. */
const MAX_ANSWER_BYTES = 16 * 1024;

/** Publishes a delivery's body to the client's topic, by a request that is signed with the client's keys. */
export async function publish(
  delivery: Delivery,
  { region, topicArn }: SnsNotification,
  { jobId, secrets, settings }: DeliveryDeps,
): Promise<DeliveryResult> {
  if ("url" in secrets.notification) throw new Error("A topic needs its keys");
  const { params, ...keys } = secrets.notification;
  const signer = new AwsClient({ ...keys, service: "sns", region, retries: 0 });
  const request = await signer.sign(settings.snsEndpoint ?? endpointOf(region), {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded; charset=utf-8" },
    body: new URLSearchParams(
      publishParameters(delivery, topicArn, { event: delivery.event, job_id: jobId, ...params }),
    ).toString(),
    aws: { allHeaders: true },
  });
  return send(request, readAnswer);
}

/** The endpoint of a region (AWS General Reference, Amazon SNS endpoints); those in China have a domain of their own. */
export const endpointOf = (region: string): string =>
  `https://sns.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}/`;

type Attributes = Readonly<Record<string, string>> & { readonly job_id: string };

function publishParameters({ id, body }: Delivery, topicArn: string, attributes: Attributes): Record<string, string> {
  const parameters = {
    Action: "Publish",
    Version: API_VERSION,
    TopicArn: topicArn,
    // The two characters that JSON may hold and SNS, which takes those of XML, may not; an escape means the same.
    Message: body.replaceAll("\ufffe", "\\ufffe").replaceAll("\uffff", "\\uffff"),
    ...Object.fromEntries(Object.entries(attributes).flatMap(([name, value], at) => attribute(at + 1, name, value))),
  };
  // Topics that keep an order want to know whose, and drop what comes twice within five minutes.
  const order = { MessageGroupId: attributes.job_id, MessageDeduplicationId: id };
  return topicArn.endsWith(".fifo") ? { ...parameters, ...order } : parameters;
}

const attribute = (number: number, name: string, value: string): [string, string][] => [
  [`MessageAttributes.entry.${number}.Name`, name],
  [`MessageAttributes.entry.${number}.Value.DataType`, "String"],
  [`MessageAttributes.entry.${number}.Value.StringValue`, value],
];

/** Of an error only the code is kept: SNS's own words may repeat what it was sent. */
async function readAnswer(response: Response): Promise<DeliveryResult> {
  const { status } = response;
  if (response.ok) {
    await response.body?.cancel();
    return { status };
  }
  const body = await readLimited(response.body, MAX_ANSWER_BYTES).catch(() => new Uint8Array());
  const code = /<Code>([\w.-]{1,64})<\/Code>/.exec(new TextDecoder().decode(body))?.[1];
  return code === undefined ? { status } : { status, code };
}
