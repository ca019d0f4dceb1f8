/** Groups and selections as trees over HTTP. */
import { createHash } from 'node:crypto'
import * as z from 'zod'
import type { GroupFacts } from '#lib/analysis/group/group-forest.ts'
import { MOST_GROUP_SAMPLES } from '#lib/api/forest/group-forest.ts'
import type { TrajectorySummary } from '#lib/api/library.ts'
import { ADVANTAGE_FORMULAS, DEFAULT_FORMULA } from '#lib/trajectory/reward/advantage.ts'
import { createMemory } from '#lib/util/bounded-memory.ts'
import { jsonTextResponse } from '../http/json-response.ts'
import { HttpProblem } from '../http/problem.ts'
import { queryWord } from '../http/query.ts'
import { createRequestThread } from '../limited-thread.ts'
import { groupNamed } from '../runs/groups.ts'
import type { Services } from '../services.ts'
import type { ForestQuestion, ForestReply, ForestWorkerStart } from './forest-worker-messages.ts'

/** Builds the trees of groups in a thread. */
export interface Forests {
  /** Returns the answer as JSON. Equal revisions have the same answer, which is computed once. */
  textOf(question: ForestQuestion): Promise<ForestReply>
  close(): Promise<void>
}

interface Options {
  readonly workerFile: string
  readonly start: ForestWorkerStart
}

const IDLE_MS = 60_000
/** Largest number of characters of answers that are kept for clients that request the same revision. */
const MOST_KEPT_CHARACTERS = 16_000_000

/** Returns the builder; its thread starts with the first request and ends after a minute without one. */
export function createForests({ workerFile, start }: Options): Forests {
  const thread = createRequestThread<ForestQuestion, ForestReply>({
    name: 'rollscope-forest',
    workerFile,
    start,
    idleMs: IDLE_MS,
  })
  const computed = createMemory<ForestReply>(MOST_KEPT_CHARACTERS)
  const computing = new Map<string, Promise<ForestReply>>()
  const compute = async (question: ForestQuestion): Promise<ForestReply> => {
    try {
      const reply = await thread.ask(question)
      computed.set(question.revision, reply, reply.text.length)
      return reply
    } finally {
      computing.delete(question.revision)
    }
  }
  return {
    async textOf(question) {
      const found = computed.get(question.revision) ?? computing.get(question.revision)
      if (found) return found
      const reply = compute(question)
      computing.set(question.revision, reply)
      return reply
    },
    close: () => thread.end(),
  }
}

/** Most tokens of all samples of one request. Their ids occupy 4 bytes each. */
const MOST_TOKENS = 20_000_000

const KNOWN = 'The `revision` of an earlier answer. 204 while it is the same.'

/** Schema of the body of POST /api/forest. */
export const forestRequestSchema = z.strictObject({
  keys: z
    .array(z.string())
    .min(1)
    .max(MOST_GROUP_SAMPLES)
    .refine((keys) => new Set(keys).size === keys.length, { message: 'keys that differ' })
    .describe('Keys of stored trajectories, such as some samples of a group, or a trajectory and its branches.'),
  advantage: z
    .enum(ADVANTAGE_FORMULAS)
    .exactOptional()
    .describe(`Formula of the advantages, computed over these trajectories. Default ${DEFAULT_FORMULA}.`),
  known: z.string().max(100).exactOptional().describe(KNOWN),
})

/** Query parameters of GET /api/groups/{id}/forest. */
export const FOREST_QUERY = {
  advantage: `Formula of the advantages: ${ADVANTAGE_FORMULAS.join(', ')}. Default ${DEFAULT_FORMULA}.`,
  known: KNOWN,
} as const

/** Returns the trees of a group, which counts as a look at its running samples. Throws HttpProblem. */
export function forestOfGroup(groupId: string, request: Request, all: Services): Promise<Response> {
  const formula = queryWord(request, 'advantage', ADVANTAGE_FORMULAS, DEFAULT_FORMULA)
  const { samples, reward, deleted = 0 } = groupNamed(groupId, all)
  return forestOf(
    samples,
    { group: { id: groupId, reward }, isRunning: areRunning(samples), formula, missing: [], deleted },
    new URL(request.url).searchParams.get('known') ?? undefined,
    all,
  )
}

/** Returns the trees of a selection, which counts as a look at its running trajectories. Throws HttpProblem. */
export function forestOfSelection(
  { keys, advantage: formula = DEFAULT_FORMULA, known }: z.infer<typeof forestRequestSchema>,
  all: Services,
): Promise<Response> {
  const found = keys.map((key) => ({ key, row: all.store.row(key) }))
  const rows = found.flatMap(({ row }) => row ?? [])
  const missing = found.flatMap(({ key, row }) => (row ? [] : [key]))
  if (rows.length === 0)
    throw new HttpProblem({
      status: 404,
      code: 'NO_TRAJECTORY',
      detail: `none of the ${keys.length} trajectories is stored here`,
      hint: 'They may be deleted, on another machine, or in another ROLLSCOPE_DATA folder.',
      field: 'keys',
    })
  for (const { key } of rows) all.runs.lookedAt(key)
  return forestOf(rows, { group: null, isRunning: areRunning(rows), formula, missing, deleted: 0 }, known, all)
}

/** Returns whether one of them is running, also in another instance. */
const areRunning = (rows: readonly TrajectorySummary[]): boolean =>
  rows.some(({ outcomeKind }) => outcomeKind === 'running')

/** The part of an answer that does not depend on the samples. */
type ForestFacts = Pick<GroupFacts, 'group' | 'isRunning' | 'formula' | 'missing' | 'deleted'>

async function forestOf(
  members: readonly TrajectorySummary[],
  facts: ForestFacts,
  known: string | undefined,
  all: Services,
): Promise<Response> {
  const rows = members.slice(0, MOST_GROUP_SAMPLES)
  const tokens = rows.reduce((sum, row) => sum + row.tokens, 0)
  if (tokens > MOST_TOKENS)
    throw new HttpProblem({
      status: 422,
      code: 'TOO_LARGE',
      detail: `the samples have ${tokens} tokens; a tree is built of at most ${MOST_TOKENS}`,
      hint: 'Select some of them: POST /api/forest takes their keys.',
    })
  const leftOut = members.slice(MOST_GROUP_SAMPLES).map(({ group, reward }) => ({ group, reward }))
  const revisions = rows.map(({ key }) => all.store.revision(key) ?? 0)
  const revision = createHash('sha256')
    .update(JSON.stringify([facts, rows, revisions, leftOut]))
    .digest('base64url')
  if (revision === known) return new Response(null, { status: 204, headers: { 'cache-control': 'no-store' } })
  const { text, withoutCopy } = await all.forests.textOf({ ...facts, revision, rows, revisions, leftOut })
  for (const key of withoutCopy) all.health.recheck(key)
  return jsonTextResponse(text)
}
