/** Trajectories that share prefixes, as groups and branches do, and a check of the texts that the store shares. For tests. */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { randomNumbers } from '#lib/util/random-numbers.ts'
import { sampleTrajectory as sample } from './sample-trajectory.ts'

/** Numbers of tokens of random segments: stored in their row, as one shared text, and in parts. */
const LENGTHS = [5, 5, 400, 400, 700, 5000]

/** Returns a trajectory with one to four segments. `seed` determines its content. */
export function randomTrajectory(id: string, seed: number): Trajectory {
  const { tokenizer: _, ...model } = sample.model
  return { ...sample, id, model, segments: randomSegments(seed) }
}

/** Returns a trajectory that begins with this number of tokens of another one, and continues with other segments. */
export function randomBranch(of: Trajectory, id: string, tokens: number, seed: number): Trajectory {
  const prefix: Segment[] = []
  let left = tokens
  for (const segment of of.segments) {
    if (left > 0) prefix.push(left < segment.ids.length ? cutSegment(segment, left) : segment)
    left -= segment.ids.length
  }
  return {
    ...of,
    id,
    forkedFrom: { trajectory: of.id, token: tokens, kind: 'sampled_again' },
    segments: [...prefix, ...randomSegments(seed)],
  }
}

/** Returns one to four segments. Few seeds, so that trajectories often share whole segments by chance too. */
export function randomSegments(seed: number): readonly Segment[] {
  const random = randomNumbers(seed)
  const below = (count: number) => Math.floor(random() * count)
  return Array.from({ length: 1 + below(4) }, (_, index): Segment => {
    const ids = Array.from({ length: LENGTHS[below(LENGTHS.length)] ?? 0 }, () => below(1000))
    if (index % 2 === 0) return { kind: 'prompt', ids, messages: [{ role: 'user', content: `é ${below(1000)}` }] }
    const logprobs = ids.map((id) => (id % 9 === 0 ? null : -id / 997))
    const topLogprobs = { k: 2, ids: ids.flatMap((id) => [id, -1]), logprobs: ids.flatMap((id) => [-id / 7, null]) }
    const hasAlternatives = below(3) === 0
    return { kind: 'response', ids, logprobs, ...(hasAlternatives && { topLogprobs }), thinks: [], toolCalls: [] }
  })
}

function cutSegment(segment: Segment, tokens: number): Segment {
  const { ids, logprobs, topLogprobs } = segment
  return {
    ...segment,
    ids: ids.slice(0, tokens),
    ...(logprobs && { logprobs: logprobs.slice(0, tokens) }),
    ...(topLogprobs && {
      topLogprobs: {
        k: topLogprobs.k,
        ids: topLogprobs.ids.slice(0, tokens * topLogprobs.k),
        logprobs: topLogprobs.logprobs.slice(0, tokens * topLogprobs.k),
      },
    }),
  }
}

/** Returns the shared texts whose number of uses is wrong: unused ones, missing ones, and those that were counted wrongly. */
export const wrongUses = (database: DatabaseSync): ReturnType<StatementSync['all']> =>
  database
    .prepare(
      `WITH used AS (
         SELECT shared AS id, count(*) AS uses FROM (
           SELECT shared FROM segments UNION ALL SELECT shared FROM segment_lists
         ) WHERE shared IS NOT NULL GROUP BY shared
       )
       SELECT id, used.uses AS used, shared_texts.uses AS counted FROM used FULL JOIN shared_texts USING (id)
       WHERE used.uses IS NOT shared_texts.uses`,
    )
    .all()
