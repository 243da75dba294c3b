/** A button that saves a picture as SVG or PNG. */
import { useSignal } from "@preact/signals";
import { IconButton } from "./Icon";
import { messageOf } from "./api";
import type { Format } from "./pictures";
import { announcement } from "./state";

export function SaveMenu({ label, save }: { label: string; save: (format: Format) => Promise<void> }) {
  const opened = useSignal(false);
  const pick = (format: Format) => {
    opened.value = false;
    save(format).then(
      () => (announcement.value = `saved as ${format.toUpperCase()}`),
      (error: unknown) => (announcement.value = messageOf(error)),
    );
  };
  return (
    <div
      class="save-menu"
      onKeyDown={(event) => {
        if (event.key === "Escape" && opened.value) {
          opened.value = false;
          event.stopPropagation();
        }
      }}
      onFocusOut={(event) => {
        if (!(event.currentTarget as HTMLElement).contains(event.relatedTarget as Node | null)) opened.value = false;
      }}
    >
      <IconButton icon="save" label={label} pressed={opened.value} onClick={() => (opened.value = !opened.value)} />
      {opened.value && (
        <div class="menu" role="group" aria-label={label}>
          <button type="button" onClick={() => pick("svg")}>
            SVG
          </button>
          <button type="button" onClick={() => pick("png")}>
            PNG
          </button>
        </div>
      )}
    </div>
  );
}
