import type { ComponentChildren } from "preact";
import { Button } from "../controls/button.tsx";
import type { useForm } from "../controls/form.tsx";
import { Problem } from "../problem.tsx";
import { Dialog } from "./dialog.tsx";

type Props = {
  readonly title: string;
  readonly close: () => void;
  /** The text of the button that sends the form. */
  readonly action: string;
  readonly form: ReturnType<typeof useForm>;
  readonly children: ComponentChildren;
};

/** A dialog that is a form: its fields below the error of the last try. */
export const FormDialog = ({ title, close, action, form: { onSubmit, isBusy, error }, children }: Props) => (
  <Dialog title={title} close={close}>
    <form onSubmit={onSubmit}>
      <div class="dialog-body stack">
        <Problem error={error} />
        {children}
      </div>
      <footer>
        <Button text="Back" onClick={close} />
        <Button text={action} type="submit" class="primary" disabled={isBusy} />
      </footer>
    </form>
  </Dialog>
);
