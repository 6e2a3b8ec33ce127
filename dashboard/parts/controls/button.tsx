import type { ButtonHTMLAttributes } from "preact";
import { Icon, type IconName } from "../icon.tsx";

type Props = ButtonHTMLAttributes<HTMLButtonElement> & {
  readonly text: string;
  readonly icon?: IconName;
  /** The rest of its name, for people who do not see its surroundings, such as the name of a job. */
  readonly of?: string;
};

/** A button with a text. It submits no form, unless its type is `submit`. */
export function Button({ text, icon, of, ...rest }: Props) {
  return (
    <button type="button" {...rest}>
      {icon && <Icon name={icon} />}
      {text}
      {of !== undefined && <span class="visually-hidden"> {of}</span>}
    </button>
  );
}
