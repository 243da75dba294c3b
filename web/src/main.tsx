import { render } from "preact";
import { App } from "./App";
import { listenForKeys } from "./Help";
import { drawn } from "./map/MapView";
import { camera } from "./map/stage";
import { open, points } from "./state";
import { followAddress } from "./url";

followAddress();
listenForKeys();
void open();
const root = document.getElementById("page")!;
root.replaceChildren();
render(<App />, root);

// For browser tests and benchmarks.
const onScreen = ([x, y]: [number, number]) => camera.value!.toScreen(x, y);
const place = (i: number) => onScreen([points.value!.x[i], points.value!.y[i]]);
const isFinal = () => !points.value!.provisional && camera.value?.box === points.value!.box; // and looked at
Object.assign(window, { ugraphemb: { drawn, onScreen, place, isFinal } });
