import { useQueries, useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { whyUnsupported } from '#lib/api/engine/unsupported.ts'
import { serverStatusOptions, serversOptions } from '#lib/browser/queries.ts'
import { scoreIds } from '#lib/browser/rollout/scoring.ts'
import { refusalText } from '#lib/sampling/refusal.ts'
import type { Scorer } from '#lib/trajectory/scoring/gathered.ts'
import { withColumn } from '#lib/trajectory/tokens/added-columns.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

/** Returns the scorer that uses the configured servers; its lists are undefined until they are loaded. */
export function useScorer(): Scorer {
  const { data } = useQuery(serversOptions())
  const servers = data?.servers.map(({ name }) => name)
  const statuses = useQueries({
    // Each server is asked once: its engine does not change while the page is open.
    queries: (servers ?? []).map((name) => ({
      ...serverStatusOptions(name),
      refetchInterval: false as const,
      staleTime: Number.POSITIVE_INFINITY,
    })),
  })
  const refusals = Object.fromEntries(
    (servers ?? []).flatMap((name, index) => {
      const status = statuses[index]?.data
      const refusal = status?.state === 'ready' ? whyUnsupported('promptLogprobs', status.capabilities) : undefined
      return refusal ? [[name, refusalText(refusal)]] : []
    }),
  )
  return { servers, defaultServer: data?.default, refusals, score: scoreIds }
}

/** Prefill logprobs are raw, and a server of the sampling model computes them. */
const RESCORED = { quantity: 'logprob', model: 'rollout', values: 'raw', source: 'Verify on a server' } as const

/** Returns the trajectory with the column that was added here; another trajectory begins without it. */
export function useAddedColumn(trajectory: TrajectoryView) {
  const [added, setAdded] = useState<{
    readonly of: TrajectoryView
    readonly name: string
    readonly values: Float64Array
  }>()
  const shown = useMemo(
    () => (added?.of === trajectory ? withColumn(trajectory, added.name, added.values, RESCORED) : trajectory),
    [trajectory, added],
  )
  const onColumn = (name: string, values: Float64Array) => setAdded({ of: trajectory, name, values })
  return { shown, onColumn }
}
