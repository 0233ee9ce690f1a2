/** What is said for a moment in a corner. It is no element of ours, so its text is made fit to be shown here. */
import { toast as say } from "sonner";
import { displayText } from "../display/display-text.ts";

export const toast = {
  success: (text: string): void => void say.success(displayText(text)),
  error: (text: string): void => void say.error(displayText(text)),
};
