/** The densest parts of the map, and twelve members of the chosen one (figure 2 of the paper). */
import { signal } from "@preact/signals";
import { api, messageOf } from "./api";
import { lookAtBox } from "./map/stage";
import { keep } from "./rows";
import { announcement, onNewMap } from "./state";
import type { Cluster } from "./types";

const COUNT = 6;

export interface Clusters {
  status: "none" | "asking" | "ready" | "failed";
  list: Cluster[];
  error: string | null;
}

export const clusters = signal<Clusters>({ status: "none", list: [], error: null });
export const chosenCluster = signal(-1);

export async function findClusters(): Promise<void> {
  if (clusters.value.status === "asking" || clusters.value.status === "ready") return;
  clusters.value = { status: "asking", list: [], error: null };
  try {
    const { clusters: list } = await api.clusters(COUNT);
    for (const { members } of list) keep(members);
    clusters.value = { status: "ready", list, error: null };
    announcement.value = `${list.length} clusters found`;
  } catch (error) {
    clusters.value = { status: "failed", list: [], error: messageOf(error) };
  }
}

export function clearClusters(): void {
  clusters.value = { status: "none", list: [], error: null };
  chosenCluster.value = -1;
}

onNewMap(() => {
  if (clusters.value.status === "none") return;
  clearClusters();
  void findClusters();
});

export function chooseCluster(index: number): void {
  chosenCluster.value = index;
  const cluster = clusters.value.list[index];
  if (!cluster) return;
  const { x, y, radius } = cluster;
  const reach = 3 * radius;
  lookAtBox({ left: x - reach, right: x + reach, bottom: y - reach, top: y + reach });
}
