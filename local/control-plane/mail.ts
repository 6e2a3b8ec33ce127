// Sends the Worker's e-mail by SMTP. The Worker has no SMTP client.
import { createTransport } from "nodemailer";
import * as z from "zod";
import { messageOf } from "#shared/log.ts";

const Mail = z.object({ id: z.string(), to: z.array(z.string()), text: z.string() });
/** Like the time limit of webhooks. */
const TIMEOUT_MS = "15000";

/** The service binding MAIL; none without SMTP_URL. Throws a message for the operator. */
export function mailBinding({ SMTP_URL, SMTP_FROM }: Readonly<Record<string, string | undefined>>) {
  if (SMTP_URL === undefined) return {};
  const url = URL.canParse(SMTP_URL) ? new URL(SMTP_URL) : null;
  if (!url || !/^smtps?:$/.test(url.protocol) || url.hostname === "") {
    throw new Error("SMTP_URL must be the URL of an SMTP server, such as smtps://user:password@smtp.example.com:465");
  }
  const from = SMTP_FROM ?? decodeURIComponent(url.username);
  if (!from.includes("@")) throw new Error("SMTP_FROM must be the sender's e-mail address");
  for (const name of ["connectionTimeout", "greetingTimeout", "socketTimeout"]) url.searchParams.set(name, TIMEOUT_MS);
  // A password crosses no network unencrypted.
  const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  if (url.password !== "" && !isLocal) url.searchParams.set("requireTLS", "true");
  const transport = createTransport(url.href);
  return {
    MAIL: async (request: Pick<Request, "json">): Promise<Response> => {
      const { id, to, text } = Mail.parse(await request.json());
      const [subject = ""] = text.split("\n");
      try {
        // Retries have the same id, so that mail servers can detect duplicates.
        await transport.sendMail({ messageId: `<${id}@copra>`, from, to, subject, text });
        return new Response(null, { status: 204 });
      } catch (error) {
        return new Response(messageOf(error), { status: 502 });
      }
    },
  };
}
