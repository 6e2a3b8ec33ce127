// Replaces the secret that signs webhooks.
import { useState } from "preact/hooks";
import type { RotatedSecret } from "../../client/index.ts";
import { dateTime } from "../core/format.ts";
import { copra } from "../core/service.ts";
import { Card } from "../parts/card.tsx";
import { Button } from "../parts/controls/button.tsx";
import { ShownOnce } from "../parts/controls/shown-once.tsx";
import { confirm } from "../parts/overlays/dialog.tsx";
import { toastError } from "../parts/overlays/toasts.tsx";

export function WebhookSecretCard() {
  const [rotated, setRotated] = useState<RotatedSecret | null>(null);
  const rotate = async (): Promise<void> => {
    const isSure = await confirm({
      title: "Replace the webhook secret?",
      text: (
        <p>
          For 24 hours webhooks are signed with both secrets. Give the new secret to your receivers within this time:
          then they refuse nothing.
        </p>
      ),
      action: "Replace the secret",
    });
    if (isSure) await copra.notifications.rotateSecret().then(setRotated, toastError);
  };
  return (
    <Card title="Webhook secret" actions={<Button text="Replace" onClick={rotate} />}>
      <div class="body stack">
        <p class="muted">
          Receivers check signatures with it (Standard Webhooks). The service shows it only when it is made.
        </p>
        {rotated && (
          <ShownOnce label="Webhook secret" text={rotated.webhook_secret} close={() => setRotated(null)}>
            It is shown once. The previous secret also signs until {dateTime(rotated.previous_until)}.
          </ShownOnce>
        )}
      </div>
    </Card>
  );
}
