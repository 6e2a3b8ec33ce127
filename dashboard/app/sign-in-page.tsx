// Signing in with a key or a token. One-time links sign in without this page (start.ts).
import { COMMAND } from "../core/command.ts";
import { ended, signIn } from "../core/session.ts";
import { Button } from "../parts/controls/button.tsx";
import { Field, useForm } from "../parts/controls/form.tsx";
import { Problem } from "../parts/problem.tsx";
import { Brand } from "./brand.tsx";
import "./layout.css";

export function SignInPage() {
  const { onSubmit, isBusy, error } = useForm(({ text }) => signIn(text("credential")));
  return (
    <main class="sign-in">
      <form class="card" onSubmit={onSubmit}>
        <Brand />
        <h1>Sign in</h1>
        {ended.value && error === undefined && (
          <p class="notice" role="status">
            {ended.value}
          </p>
        )}
        <Problem error={error} />
        <Field
          label="API key or admin token"
          help="It is sent once and not kept: this browser gets a cookie for twelve hours."
          name="credential"
          type="password"
          autocomplete="current-password"
          spellcheck={false}
          required
        />
        <Button type="submit" text={isBusy ? "Signing in …" : "Sign in"} class="primary" disabled={isBusy} />
        <p class="muted">
          Or open the link that <code>{COMMAND} dashboard</code> prints. It signs in once, without typing.
        </p>
      </form>
    </main>
  );
}
