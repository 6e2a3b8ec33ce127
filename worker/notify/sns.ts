// Notifications of type `sns`: messages to a topic of Amazon SNS (API Reference, Publish).
import { AwsClient } from "aws4fetch";
import type { SnsNotification } from "#shared/request/notification-section.ts";
import { readLimited } from "../http-client/read-limited.ts";
import type { Delivery, DeliveryDeps, DeliveryResult } from "./delivery.ts";
import { send } from "./send.ts";

const API_VERSION = "2010-03-31";
/** An error response of SNS has a few hundred bytes. */
const MAX_RESPONSE_BYTES = 16 * 1024;

/** Publishes a delivery's body to the client's topic, with a request signed with the client's keys. */
export async function publishToTopic(
  delivery: Delivery,
  { region, topicArn }: SnsNotification,
  { jobId, receiver, settings }: DeliveryDeps,
): Promise<DeliveryResult> {
  if ("url" in receiver) throw new Error("The keys of the SNS topic are missing");
  const { params, ...keys } = receiver;
  const signer = new AwsClient({ ...keys, service: "sns", region, retries: 0 });
  const request = await signer.sign(settings.snsEndpoint ?? endpointOf(region), {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded; charset=utf-8" },
    body: new URLSearchParams(
      publishParameters(delivery, topicArn, { event: delivery.event, job_id: jobId, ...params }),
    ).toString(),
    aws: { allHeaders: true },
  });
  return send(request, readResponse);
}

/**
 * The endpoint of a region (AWS General Reference, Amazon SNS endpoints). Regions in China have a domain of their own.
 */
export const endpointOf = (region: string): string =>
  `https://sns.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}/`;

type Attributes = Readonly<Record<string, string>> & { readonly job_id: string };

function publishParameters({ id, body }: Delivery, topicArn: string, attributes: Attributes): Record<string, string> {
  const parameters = {
    Action: "Publish",
    Version: API_VERSION,
    TopicArn: topicArn,
    // JSON allows these two characters, but SNS allows only the characters of XML. Escaped, they mean the same.
    Message: body.replaceAll("\ufffe", "\\ufffe").replaceAll("\uffff", "\\uffff"),
    ...Object.fromEntries(Object.entries(attributes).flatMap(([name, value], at) => attribute(at + 1, name, value))),
  };
  // FIFO topics keep the order within a group, and drop duplicates within five minutes.
  const order = { MessageGroupId: attributes.job_id, MessageDeduplicationId: id };
  return topicArn.endsWith(".fifo") ? { ...parameters, ...order } : parameters;
}

const attribute = (number: number, name: string, value: string): [string, string][] => [
  [`MessageAttributes.entry.${number}.Name`, name],
  [`MessageAttributes.entry.${number}.Value.DataType`, "String"],
  [`MessageAttributes.entry.${number}.Value.StringValue`, value],
];

/** Keeps only the code of an error: SNS's message may quote the request. */
async function readResponse(response: Response): Promise<DeliveryResult> {
  const { status } = response;
  if (response.ok) {
    await response.body?.cancel();
    return { status };
  }
  const body = await readLimited(response.body, MAX_RESPONSE_BYTES).catch(() => new Uint8Array());
  const code = /<Code>([\w.-]{1,64})<\/Code>/.exec(new TextDecoder().decode(body))?.[1];
  return code === undefined ? { status } : { status, code };
}
