/**
 * Measures the upgrade of a database in which every trajectory has its own copy of each segment to one that stores shared prefixes
 * once: 1,250 groups of 8 samples with prompts of 1,000 tokens, and 2,500 branches. Also compares the size
 * with that of a new database, and checks that all trajectories read back.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createSharedTexts, shareEqualSegments } from '#lib/store/segments/shared-texts.ts'
import { openTrajectoryStore } from '#lib/store/trajectories.ts'
import { transaction } from '#lib/store/transaction.ts'
import { encode } from '#lib/trajectory/format/codec.ts'
import type { Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { randomNumbers } from '#lib/util/random-numbers.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { wrongUses } from '#testing/stored-forests.ts'
import { reportFigure } from '../support/figures.ts'

const GROUPS = 1250
const SAMPLES = 8
const BRANCHES = 2
const MEGABYTE = 2 ** 20

/** Upgrades a folder and prints the milliseconds and the peak memory of this process in bytes, before and after. */
function upgrade(folder: string): void {
  const peak = () => process.resourceUsage().maxRSS * 1024
  const before = peak()
  const start = performance.now()
  const database = openDatabase(folder)
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  transaction(database, () => {
    createSharedTexts(database)
    shareEqualSegments(database)
  })
  database.close()
  console.log(JSON.stringify([performance.now() - start, before, peak()]))
}

function measure(): void {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'rollscope-store-upgrade-'))
  try {
    const store = openTrajectoryStore(folder, { now: () => new Date() })
    for (let group = 0; group < GROUPS; group++) store.addAll(trajectoriesOf(group))
    store.close()
    const stored = sizeOf(folder)
    makeOld(folder)
    const old = sizeOf(folder)
    const { stdout, status } = spawnSync(process.execPath, [import.meta.filename, folder], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    if (status !== 0) throw new Error('the upgrade failed')
    const [ms = 0, idle = 0, peak = 0]: number[] = JSON.parse(stdout)
    const size = sizeOf(folder)
    reportFigure('trajectories', GROUPS * (SAMPLES + BRANCHES), '')
    reportFigure('the upgrade', ms, 'ms')
    reportFigure('its peak memory above that of the loaded modules', (peak - idle) / MEGABYTE, 'MB', 150)
    reportFigure('the database before', old.usedBytes / MEGABYTE, 'MB')
    reportFigure('used pages after it', size.usedBytes / MEGABYTE, 'MB')
    reportFigure('free pages after it, which later trajectories fill', size.freeBytes / MEGABYTE, 'MB')
    reportFigure('used pages after it, over before', size.usedBytes / old.usedBytes, '×', 0.8)
    reportFigure('texts of segments after it, over before', size.segmentBytes / old.segmentBytes, '×', 0.6)
    reportFigure('a new database with the same trajectories', stored.usedBytes / MEGABYTE, 'MB')
    reportFigure('trajectories that read back differently', countDifferent(folder), '', 0)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Returns the samples of a group and branches of its first sample, which differ in the second response. */
function trajectoriesOf(group: number): readonly Trajectory[] {
  const random = randomNumbers(group)
  const { tokenizer: _, ...model } = sampleTrajectory.model
  const below = (count: number) => Math.floor(random() * count)
  const ids = (count: number) => Array.from({ length: count }, () => 40 * below(1000))
  const prompt = (count: number): Segment => {
    const all = ids(count)
    return { kind: 'prompt', ids: all, messages: [{ role: 'user', content: all.map((id) => ` w${id}`).join('') }] }
  }
  const response = (count: number): Segment => {
    // A server's logprobs are numbers of 32 bits.
    const logprobs = Array.from({ length: count }, () => Math.fround(Math.log(1 - random())))
    return { kind: 'response', ids: ids(count), logprobs, thinks: [], toolCalls: [] }
  }
  const trajectory = (id: string, segments: readonly Segment[]): Trajectory => ({
    ...sampleTrajectory,
    id,
    model,
    vocab: Object.fromEntries(segments.flatMap((segment) => segment.ids.map((one) => [one, ` w${one}`]))),
    segments,
  })
  const question = prompt(1000)
  const samples = Array.from({ length: SAMPLES }, (_, index) =>
    trajectory(`${group} ${index}`, [question, response(300), prompt(150), response(250)]),
  )
  const branches = Array.from({ length: BRANCHES }, (_, index) =>
    trajectory(`${group} branch ${index}`, [...(samples[0]?.segments.slice(0, 3) ?? []), response(250)]),
  )
  return [...samples, ...branches]
}

/** Takes back the upgrade: every segment has its own text. */
function makeOld(folder: string): void {
  const database = openDatabase(folder)
  database.exec(`
    UPDATE segments SET segment = (SELECT text FROM shared_texts WHERE id = shared) WHERE shared IS NOT NULL;
    DROP TRIGGER segments_deleted;
    DROP TRIGGER segment_lists_deleted;
    ALTER TABLE segments DROP COLUMN shared;
    ALTER TABLE segment_lists DROP COLUMN shared;
    DROP TABLE shared_texts;
    VACUUM;
  `)
  database.close()
}

/** Returns the bytes of used and free pages, and of the texts of all segments. */
function sizeOf(folder: string) {
  const database = openDatabase(folder)
  const number = (sql: string) => Number(Object.values(database.prepare(sql).get() ?? {})[0] ?? 0)
  const page = number('PRAGMA page_size')
  const freeBytes = page * number('PRAGMA freelist_count')
  const tables = database.prepare('SELECT name FROM sqlite_master').all()
  const hasShared = tables.some(({ name }) => name === 'shared_texts')
  const segmentBytes =
    number('SELECT sum(octet_length(segment)) FROM segments') +
    (hasShared ? number('SELECT sum(octet_length(text)) FROM shared_texts') : 0)
  database.close()
  return { usedBytes: statSync(path.join(folder, 'rollscope.db')).size - freeBytes, freeBytes, segmentBytes }
}

function countDifferent(folder: string): number {
  const store = openTrajectoryStore(folder, { now: () => new Date() })
  let different = 0
  for (let group = 0; group < GROUPS; group++)
    for (const sent of trajectoriesOf(group)) {
      const found = store.get(sent.id)
      if (!found || encode(found) !== encode(sent)) different++
    }
  store.close()
  const database = openDatabase(folder)
  const wrong = wrongUses(database)
  database.close()
  if (wrong.length > 0) throw new Error(`the uses of shared texts are wrong: ${JSON.stringify(wrong.slice(0, 3))}`)
  return different
}

const openDatabase = (folder: string) => new DatabaseSync(path.join(folder, 'rollscope.db'))

const [folder] = process.argv.slice(2)
if (folder === undefined) measure()
else upgrade(folder)
