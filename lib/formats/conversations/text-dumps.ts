/** The text dumps of trainers: one record for each sample of a step, with its reward, and no ids. Samples of one prompt are a group. */
import { isObject, type JsonObject, without } from '#lib/json/json-object.ts'
import type { Format } from '../format.ts'
import { nextGroupMember } from '../group-members.ts'
import { catchRefusals, refuse } from '../reading/record-error.ts'
import { slimeOutcome } from '../trainers/slime.ts'
import {
  completionSegments,
  conversationSegments,
  groupCounter,
  outcomeOfMessages,
  recordsOf,
  responseSegment,
  textTrajectory,
} from './text-trajectory.ts'

/** The format of TRL's completions, from `completions_00001.parquet`. */
export const trl: Format = {
  name: 'trl-completions',
  label: 'TRL completions',
  keeps: 'Prompt, completion, rewards and advantages. Texts only.',
  joins: true,
  sniff: (value) => has(value, ['prompt', 'completion', 'advantage']),
  read: catchRefusals((value, source) => {
    const groupOf = groupCounter()
    return recordsOf(value).map(({ record, path }) => {
      const paths = { prompt: `${path}prompt`, completion: `${path}completion` }
      const rewards = rewardColumns(record)
      const [reward] = rewards
      return textTrajectory(
        {
          format: 'trl-completions',
          segments: completionSegments(record.prompt, record.completion, paths),
          reward: rewards.length === 1 && reward !== undefined ? record[reward] : undefined,
          ...groupOf(JSON.stringify([record.step ?? null, record.prompt])),
          lacked: rewards.length > 1 ? ['reward: the file has several, and not their weights'] : [],
          rest: without(record, ['prompt', 'completion']),
        },
        source,
      )
    })
  }),
}

/** Each reward function has a column of numbers. */
const rewardColumns = (record: JsonObject): readonly string[] =>
  Object.keys(record).filter((key) => !['step', 'advantage'].includes(key) && typeof record[key] === 'number')

/** The format of verl's rollout dumps, `{step}.jsonl`. */
export const verlDump: Format = {
  name: 'verl-dump',
  label: 'verl rollout dumps',
  keeps: 'Input, output, score and extra rewards. Texts only.',
  joins: true,
  sniff: (value) => isObject(value) && suffixesIn(value).length > 0,
  read: catchRefusals((value, source) => {
    const groupOf = groupCounter()
    return recordsOf(value).flatMap(({ record, path }) => {
      const suffixes = suffixesIn(record)
      const others = without(record, suffixes.flatMap(fieldsOf))
      return suffixes.map((suffix) => {
        const [inputField, outputField, scoreField] = fieldsOf(suffix)
        const { [inputField]: input, [outputField]: output, [scoreField]: score } = record
        return textTrajectory(
          {
            format: 'verl-dump',
            segments: completionSegments(input, output, {
              prompt: `${path}${inputField}`,
              completion: `${path}${outputField}`,
            }),
            reward: score,
            ...groupOf(JSON.stringify([record.step ?? null, record.uid ?? input])),
            lacked: ['messages of the prompt: its decoded text is shown as a message of the user'],
            missing: ['messages'],
            rest: typeof score === 'number' ? others : { ...others, score },
          },
          source,
        )
      })
    })
  }),
}

const fieldsOf = (suffix: string) => [`input${suffix}`, `output${suffix}`, `score${suffix}`] as const

/** Returns what the names of the fields end in for each sample of a record: '' for one, `_1`, `_2` … for a row of the table of validations. */
function suffixesIn(record: JsonObject): readonly string[] {
  const isSample = (suffix: string): boolean => {
    const [input, output, score] = fieldsOf(suffix)
    return isText(record, input) && isText(record, output) && score in record
  }
  return ['', ...Object.keys(record).flatMap((key) => /^input(_\d+)$/.exec(key)?.[1] ?? [])].filter(isSample)
}

/** The format of the samples that OpenRLHF logs to Weights & Biases. */
export const openRlhf: Format = {
  name: 'openrlhf',
  label: 'OpenRLHF samples',
  keeps: 'Texts and rewards.',
  sniff: (value) => has(value, ['global_step', 'text', 'reward']) && isText(value, 'text'),
  read: catchRefusals((value, source) => {
    const { text, reward, ...others } = value as JsonObject
    return [
      textTrajectory(
        {
          format: 'openrlhf',
          segments: [responseSegment({ role: 'assistant', content: text })],
          reward,
          lacked: ['messages: the decoded text of prompt and response is shown as a reply'],
          missing: ['messages'],
          rest: typeof reward === 'number' ? others : { ...others, reward },
        },
        source,
      ),
    ]
  }),
}

/** The format of Relax's rollout results. */
export const relax: Format = {
  name: 'relax',
  label: 'Relax rollout results',
  keeps: 'Prompt, response, reward, status and group. Texts only.',
  joins: true,
  sniff: (value) =>
    has(value, ['prompt', 'response', 'total_length', 'group_index']) &&
    isText(value, 'response') &&
    !(isObject(value) && 'tokens' in value),
  read: catchRefusals((value, source) => {
    const groupOf = groupCounter()
    return recordsOf(value).map(({ record, path }) =>
      textTrajectory(
        {
          format: 'relax',
          segments: completionSegments(record.prompt, record.response, {
            prompt: `${path}prompt`,
            completion: `${path}response`,
          }),
          reward: record.reward,
          ...groupOf(record.group_index === null ? undefined : String(record.group_index)),
          outcome: typeof record.status === 'string' ? slimeOutcome(record.status) : undefined,
          rest: without(record, ['prompt', 'response', ...(typeof record.reward === 'number' ? ['reward'] : [])]),
        },
        source,
      ),
    )
  }),
}

/** The format of the trajectories of an evaluation of tinker-cookbook, `trajectories.jsonl`. */
export const tinkerEval: Format = {
  name: 'tinker-eval',
  label: 'tinker-cookbook evaluation',
  keeps: 'Turns, reward, error, metrics and logs. Texts only.',
  sniff: (value) => has(value, ['benchmark', 'example_id', 'turns', 'reward']),
  read: catchRefusals((value, source) => {
    const { turns, reward, error, example_id: id, ...others } = value as JsonObject
    if (!Array.isArray(turns)) return refuse('turns', 'a list of turns', turns)
    const segments = conversationSegments(
      turns.map((turn: unknown) => (isObject(turn) && turn.role === 'environment' ? { ...turn, role: 'user' } : turn)),
      'turns',
    )
    return [
      textTrajectory(
        {
          format: 'tinker-eval',
          segments,
          reward,
          group: nextGroupMember(source, String(id)),
          outcome:
            typeof error === 'string'
              ? { kind: 'failed', code: 'EVALUATION_ERROR', message: error }
              : outcomeOfMessages(segments),
          lacked: ['messages: the decoded texts of their tokens are shown'],
          rest: { ...others, example_id: id },
        },
        source,
      ),
    ]
  }),
}

const has = (value: unknown, keys: readonly string[]): boolean => isObject(value) && keys.every((key) => key in value)
const isText = (value: unknown, key: string): boolean => isObject(value) && typeof value[key] === 'string'
