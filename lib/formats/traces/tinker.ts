/**
 * The capture of tinker-cookbook: one row for each sampling call, with its whole prompt. The rows of a run, split, iteration, group
 * and trajectory are the turns of one rollout. SQLite stores their lists as JSON texts.
 */
import * as z from 'zod/mini'
import { isObject } from '#lib/json/json-object.ts'
import { parseNestedJson } from '#lib/json/nested-json.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { hasLogprobs, idsSchema, logprobsSchema } from '../columns.ts'
import { foreignTrajectory, isoTime } from '../foreign-trajectory.ts'
import type { Format, RecordSource } from '../format.ts'
import { nextGroupMember } from '../group-members.ts'
import { meaningOf } from '../number-columns.ts'
import { catchRefusals, parsedAt } from '../reading/record-error.ts'
import { joinTurns, type Turn } from '../turns.ts'

const NAME = 'tinker-capture'

/** The format of tinker-cookbook's captured calls. */
export const tinkerCapture: Format = {
  name: NAME,
  label: 'tinker-cookbook capture',
  keeps: 'Ids and logprobs of each call, policy version, and the place of the rollout in its run.',
  sniff: (value) => isObject(value) && 'prompt_tokens' in value && 'sampled_tokens' in value && 'run_id' in value,
  read: catchRefusals((value, source) => {
    const rows = Array.isArray(value)
      ? value.map((record: unknown, index) => parsedAt(rowSchema, record, `[${index}]`))
      : [parsedAt(rowSchema, value, '')]
    return Array.from(Map.groupBy(rows, rolloutKey).values()).flatMap((calls) => sequencesOf(calls, source))
  }),
  joins: true,
}

/** Accepts the list itself, or the JSON text of a SQLite column. */
const listOrText = <T>(schema: z.ZodMiniType<T>) => z.pipe(z.transform(parseNestedJson), schema)

const number = z.nullish(z.int().check(z.minimum(0)))
const rowSchema = z.looseObject({
  run_id: z.string(),
  run_attempt: number,
  split: z.nullish(z.string()),
  iteration: number,
  group_idx: number,
  traj_idx: number,
  purpose: z.nullish(z.string()),
  sampling_session_id: z.nullish(z.string()),
  seq_id: number,
  sample_idx: number,
  policy_version: z.nullish(z.string()),
  created_at: z.nullish(z.number()),
  prompt_tokens: listOrText(idsSchema),
  sampled_tokens: listOrText(idsSchema),
  logprobs: z.nullish(listOrText(z.nullable(logprobsSchema))),
  metadata: z.nullish(listOrText(z.nullable(z.looseObject({})))),
})
type Row = z.infer<typeof rowSchema>

/** A call outside of the scope of a rollout is a rollout of its own. */
function rolloutKey(row: Row): string {
  const { run_id, run_attempt, split, iteration, group_idx, traj_idx, purpose } = row
  const place = [run_id, run_attempt, split, iteration, group_idx, traj_idx, purpose]
  return JSON.stringify(
    typeof traj_idx === 'number' ? place : [...place, row.sampling_session_id, row.seq_id, row.sample_idx],
  )
}

function sequencesOf(rows: readonly Row[], source: RecordSource): readonly Trajectory[] {
  const ordered = rows.toSorted((a, b) => (a.seq_id ?? 0) - (b.seq_id ?? 0))
  const first = ordered[0]
  const temperatures = new Set(ordered.flatMap(({ metadata }) => temperatureIn(metadata)))
  const [temperature] = temperatures.size === 1 ? temperatures : []
  return joinTurns(ordered.map(turnOf), source.newId).map((sequence) =>
    foreignTrajectory(
      {
        format: NAME,
        segments: sequence.segments,
        outcome: { kind: 'ended', reason: 'unknown' },
        reward: undefined,
        lacked: [
          'messages',
          ...(hasLogprobs(sequence.segments) ? ['logprobs of the prompts'] : ['logprobs']),
          'loss mask: what the model sampled counts as trained',
          'reward',
          'outcome',
        ],
        missing: ['mask'],
        group: first && groupOf(first, source),
        createdAt: isoTime(first?.created_at),
        columnMeanings: {
          ...(hasLogprobs(sequence.segments) && {
            logprobs: meaningOf('logprobs', 'logprobs', {
              engine: 'tinker',
              ...(temperature !== undefined && { temperature }),
            }),
          }),
        },
        forkedFrom: sequence.forkedFrom,
        rest: first && restOf(first),
      },
      source,
      sequence.id,
    ),
  )
}

function temperatureIn(metadata: Row['metadata']): readonly number[] {
  const temperature = metadata?.temperature
  return typeof temperature === 'number' && temperature >= 0 ? [temperature] : []
}

/** A group is one prompt of an iteration; its samples are the trajectories. */
function groupOf(row: Row, source: RecordSource): Trajectory['group'] {
  if (typeof row.group_idx !== 'number') return undefined
  const id = [row.run_id, row.split, row.iteration, row.group_idx]
    .filter((part) => part !== null && part !== undefined)
    .join('/')
  return typeof row.traj_idx === 'number' ? { id, index: row.traj_idx } : nextGroupMember(source, id)
}

const restOf = ({ run_id, run_attempt, split, iteration, group_idx, traj_idx, purpose }: Row) =>
  Object.fromEntries(
    Object.entries({ run_id, run_attempt, split, iteration, group_idx, traj_idx, purpose }).filter(
      ([, value]) => value !== null && value !== undefined,
    ),
  )

function turnOf({ prompt_tokens, sampled_tokens, logprobs, policy_version }: Row): Turn {
  return {
    prompt: prompt_tokens,
    response: sampled_tokens,
    columns: { mask: undefined, logprobs },
    messages: [],
    about: {
      ...(typeof policy_version === 'string' && {
        weightVersions: [{ version: policy_version, start: 0, end: sampled_tokens.length }],
      }),
    },
  }
}
