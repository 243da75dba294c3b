/** Tools of the map. */
import { IconButton } from "../Icon";
import { saveMap } from "../pictures";
import { tool } from "../state";
import { SaveMenu } from "../SaveMenu";
import { showAll, zoom } from "./stage";

export function Tools() {
  return (
    <div class="tools" role="toolbar" aria-label="Map tools" aria-orientation="vertical">
      <IconButton
        icon="move"
        label="Move"
        keys="m"
        pressed={tool.value === "move"}
        onClick={() => (tool.value = "move")}
      />
      <IconButton
        icon="lasso"
        label="Select with a lasso"
        keys="l"
        pressed={tool.value === "lasso"}
        onClick={() => (tool.value = "lasso")}
      />
      <hr />
      <IconButton icon="plus" label="Zoom in" keys="+" onClick={() => zoom(1.6)} />
      <IconButton icon="minus" label="Zoom out" keys="-" onClick={() => zoom(1 / 1.6)} />
      <IconButton icon="whole" label="Show the whole map" keys="0" onClick={showAll} />
      <hr />
      <SaveMenu label="Save the map" save={saveMap} />
    </div>
  );
}
