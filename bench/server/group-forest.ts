/**
 * Measures the server's part of opening a group of 64 samples of 20,000 tokens beside one trajectory of 200,000 tokens, both from their
 * packed copies as the library has them: `node bench/server/group-forest.ts`. The samples share a prompt and beginnings of their
 * responses, with 5 alternatives of each trained token. Each round uses a new thread, so nothing is in memory.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { GroupForest } from '#lib/api/forest/group-forest.ts'
import { trajectoryForViewer } from '#lib/server/exports/trajectory-for-viewer.ts'
import { createForests, forestOfGroup } from '#lib/server/forest/forests.ts'
import type { Services } from '#lib/server/services.ts'
import { openPackedWriter } from '#lib/store/packed.ts'
import { openTrajectoryStore } from '#lib/store/trajectories.ts'
import type { Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { PACKED_TYPE, readPackedAnswer } from '#lib/trajectory/tokens/packed-bytes.ts'
import { largeTrajectory } from '../../e2e/support/large-trajectory.ts'
import { median, reportFigure } from '../support/figures.ts'

const SAMPLES = 64
const ROUNDS = 5

const folder = mkdtempSync(path.join(os.tmpdir(), 'rollscope-bench-forest-'))
const store = openTrajectoryStore(folder, { now: () => new Date() })
const large = store.add(largeTrajectory({ tokens: 200_000 }))
const base = largeTrajectory({ tokens: 20_000 })
const samples = store.addAll(Array.from({ length: SAMPLES }, (_, index) => sampleOf(index)))
pack([large, ...samples])

const all = {
  store,
  runs: { lookedAt() {} },
  groups: { isRunning: () => false },
  health: { recheck: (key: string) => console.log(`${key} has no packed copy`) },
} as unknown as Services
const cold: number[] = []
const relabelled: number[] = []
const unchanged: number[] = []
const one: number[] = []
let forest: GroupForest | undefined
for (let round = 0; round < ROUNDS; round++) {
  one.push(await timed(readLarge))
  const forests = createForests({
    workerFile: path.resolve('lib/server/forest/forest-worker.ts'),
    start: { dataFolder: folder },
  })
  const services = { ...all, forests }
  const read = async (query = '') => {
    const response = await forestOfGroup('bench', new Request(`http://localhost/${query}`), services)
    if (response.status === 200) forest = (await response.json()) as GroupForest
  }
  cold.push(await timed(read))
  store.label(samples[0] ?? '', { reward: round / ROUNDS })
  relabelled.push(await timed(read))
  unchanged.push(await timed(() => read(`?known=${forest?.revision}`)))
  await forests.close()
}
store.close()
rmSync(folder, { recursive: true })
console.log(
  `${forest?.nodes.length} nodes, ${forest?.splits.length} splits, ${JSON.stringify(forest).length} characters`,
)
reportFigure('200,000 tokens: bytes of the packed copy → trajectory', median(one), 'ms')
reportFigure('64 samples of 20,000 tokens: request → tree, with the start of the thread', median(cold), 'ms')
reportFigure('the same after a changed reward', median(relabelled), 'ms')
reportFigure('the same, unchanged', median(unchanged), 'ms', 20)

async function timed(run: () => Promise<void>): Promise<number> {
  const started = performance.now()
  await run()
  return performance.now() - started
}

async function readLarge(): Promise<void> {
  const request = new Request('http://h/x', { headers: { accept: PACKED_TYPE } })
  const answer = await trajectoryForViewer(request, large, all)
  if (!readPackedAnswer(await answer.arrayBuffer())) throw new Error('the copy has another version')
}

/** Returns a sample that shares the segments before one of its responses, and the beginning of this response, with others. */
function sampleOf(index: number): Trajectory {
  const cut = base.segments.findIndex(
    ({ kind, ids }, at) => kind === 'response' && ids.length > 8 && at >= (index % 8) * 3,
  )
  const segments = base.segments.map((segment, at): Segment => {
    if (at < cut) return segment
    const from = at === cut ? 1 + (index % 7) : 0
    return { ...segment, ids: segment.ids.map((id, place) => (place < from ? id : ((id + index) % 1000) + 1000)) }
  })
  const ids = new Set(segments.flatMap((segment) => segment.ids))
  const vocab = { ...Object.fromEntries(Array.from(ids, (id) => [id, `token ${id}`])), ...base.vocab }
  return { ...base, id: `sample ${index}`, segments, vocab, group: { id: 'bench', index }, reward: (index * 7) % 2 }
}

/** Stores the packed copies, as the checks of the library do. */
function pack(keys: readonly string[]): void {
  const writer = openPackedWriter(folder)
  const database = new DatabaseSync(path.join(folder, 'rollscope.db'), { readOnly: true })
  const sequenceOf = database.prepare('SELECT sequence FROM trajectories WHERE key = ?')
  for (const key of keys) {
    const trajectory = store.get(key)
    const sequence = Number(sequenceOf.get(key)?.sequence)
    if (trajectory) writer.write(key, { sequence, revision: store.revision(key) ?? 0 }, trajectory)
  }
  database.close()
  writer.close()
}
