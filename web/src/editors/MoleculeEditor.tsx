/** OpenChemLib's editor, loaded only when it is opened. */
import { useSignal } from "@preact/signals";
import type { CanvasEditor } from "openchemlib";
import { useEffect, useRef } from "preact/hooks";
import { messageOf } from "../api";
import { IconButton } from "../Icon";
import { inputText } from "../queries";
import type { EditorProps } from "./Editor";

export function MoleculeEditor({ onSearch, onClose }: EditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<CanvasEditor | null>(null);
  const status = useSignal<"loading" | "ready" | "failed">("loading");
  const problem = useSignal<string | null>(null);

  useEffect(() => {
    let gone = false;
    import("openchemlib").then(
      ({ CanvasEditor, Molecule }) => {
        if (gone) return;
        editor.current = new CanvasEditor(place.current!);
        status.value = "ready";
        try {
          if (inputText.value.trim()) editor.current.setMolecule(Molecule.fromSmiles(inputText.value.trim()));
        } catch {
          // what was typed is no SMILES: start empty
        }
      },
      (error: unknown) => {
        status.value = "failed";
        problem.value = `The molecule editor could not be loaded: ${messageOf(error)}`;
      },
    );
    return () => {
      gone = true;
      editor.current?.destroy();
    };
  }, []);

  const search = () => {
    const molecule = editor.current!.getMolecule();
    if (molecule.getAllAtoms() === 0) {
      problem.value = "Draw at least one atom.";
      return;
    }
    problem.value = null;
    onSearch({ smiles: molecule.toIsomericSmiles() });
  };

  return (
    <section class="editor" aria-label="Molecule editor">
      <div class="molecule-editor" ref={place}>
        {status.value === "loading" && <p class="notice">Loading the editor…</p>}
      </div>
      {problem.value && (
        <p class="error" role="alert">
          {problem.value}
        </p>
      )}
      <div class="row">
        <span class="soft">Without a mouse: type SMILES above.</span>
        <span class="spring" />
        <button type="button" class="primary" disabled={status.value !== "ready"} onClick={search}>
          Search this
        </button>
        <IconButton icon="close" label="Close the editor" onClick={onClose} />
      </div>
    </section>
  );
}
