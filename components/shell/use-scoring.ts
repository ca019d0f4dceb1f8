import { useQueries, useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { scoringRefusals } from '#lib/api/engine/scoring-refusals.ts'
import { knownStatusOptions, serversOptions } from '#lib/browser/queries.ts'
import { scoreIds } from '#lib/browser/rollout/scoring.ts'
import { refusalText } from '#lib/sampling/refusal.ts'
import { imageDataOf } from '#lib/trajectory/images/image-boxes.ts'
import { adaptersOf } from '#lib/trajectory/scoring/adapters.ts'
import type { Scorer } from '#lib/trajectory/scoring/gathered.ts'
import { type AddedColumn, withColumn } from '#lib/trajectory/tokens/added-columns.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

/** Returns the scorer that uses the configured servers; its lists are undefined until they are loaded. */
export function useScorer(): Scorer {
  const { data } = useQuery(serversOptions())
  const servers = data?.servers.map(({ name }) => name)
  const statuses = useQueries({
    queries: (servers ?? []).map(knownStatusOptions),
  })
  const whyNot = (name: string, trajectory: TrajectoryView): string | undefined => {
    const status = statuses[servers?.indexOf(name) ?? -1]?.data
    if (status?.state !== 'ready') return undefined
    const [refusal] = scoringRefusals(status, {
      images: imageDataOf(trajectory).length > 0,
      adapters: adaptersOf(trajectory),
    })
    return refusal && refusalText(refusal)
  }
  const expertServers = servers?.filter((_, index) => {
    const status = statuses[index]?.data
    return status?.state === 'ready' && status.capabilities?.routedExperts === true
  })
  return {
    servers,
    defaultServer: data?.default,
    whyNot,
    ...(expertServers && { expertServers }),
    score: scoreIds,
  }
}

/** Returns the trajectory with the columns that were added here; another trajectory begins without them. */
export function useAddedColumns(trajectory: TrajectoryView) {
  const [added, setAdded] = useState<{ readonly of: TrajectoryView; readonly columns: readonly AddedColumn[] }>()
  const shown = useMemo(
    () =>
      added?.of === trajectory
        ? added.columns.reduce<TrajectoryView>(
            (view, { name, values, meaning }) => withColumn(view, name, values, meaning),
            trajectory,
          )
        : trajectory,
    [trajectory, added],
  )
  const onColumns = (columns: readonly AddedColumn[]) => setAdded({ of: trajectory, columns })
  return { shown, onColumns }
}
