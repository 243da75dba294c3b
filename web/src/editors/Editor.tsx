/** Drawing a query: a molecule editor for molecules, a graph editor for all others. */
import { info } from "../state";
import type { Query } from "../types";
import { GraphEditor } from "./GraphEditor";
import { MoleculeEditor } from "./MoleculeEditor";

export interface EditorProps {
  onSearch: (query: Query) => void;
  onClose: () => void;
}

export function Editor(props: EditorProps) {
  return info.value?.molecules ? <MoleculeEditor {...props} /> : <GraphEditor {...props} />;
}
