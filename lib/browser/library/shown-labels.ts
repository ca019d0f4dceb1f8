/** Shows labels that were stored, here or by another page. */
import type { QueryClient } from '@tanstack/react-query'
import { type Labels, labelsOf, withLabels } from '#lib/trajectory/format/labels.ts'
import { trajectoryOptions } from '../queries.ts'

/** Changes the labels of a trajectory that a page shows, and not what is stored. Equal labels leave it as it is. */
export function showLabels(client: QueryClient, key: string | undefined, change: (labels: Labels) => Labels): void {
  const { queryKey } = trajectoryOptions(key)
  const trajectory = client.getQueryData(queryKey)
  if (!trajectory) return
  const labels = labelsOf(trajectory)
  const changed = labelsOf(change(labels))
  // Equal labels must not change the time of the update, from which pages know that there is something new to compare.
  if (JSON.stringify(changed) !== JSON.stringify(labels)) client.setQueryData(queryKey, withLabels(trajectory, changed))
}

/** Shows labels that were just stored. An answer that is on its way may have the earlier ones, so it is ignored. */
export async function showStoredLabels(
  client: QueryClient,
  key: string,
  change: (labels: Labels) => Labels,
): Promise<void> {
  await client.cancelQueries({ queryKey: [...REVISION, key] })
  showLabels(client, key, change)
}

/** Beginning of the key of every revision. */
export const REVISION = ['revision'] as const
