/**
 * Converts a record of strands-sglang to the record that Rollscope must have. They are equal, except for the divergences that
 * a scenario names.
 */
import { endOfTurnId, type PromptEncoder } from '#lib/rollout/prompt/prompt.ts'
import { scriptedLogprob, textOfIds } from './test-play.ts'
import type { AgentRecord, Scenario } from './test-scenarios.ts'

/** Returns the record that Rollscope must have. Throws if a declaration of the scenario has no effect. */
export function expectedRecord(python: AgentRecord, scenario: Scenario, promptEncoder: PromptEncoder): AgentRecord {
  const { rollscope = {}, diverges = [] } = scenario
  const changes: Change[] = [
    ...diverges.flatMap((name) => structural[name] ?? []),
    ...(rollscope.reads ?? []).map(([there, here]) => reading(there, here)),
    ...(rollscope.stopsAfter === undefined ? [] : [stoppingAfter(rollscope.stopsAfter)]),
  ]
  let parts = splitRecord(python)
  for (const change of changes) {
    const changed = change(parts, promptEncoder)
    if (JSON.stringify(changed) === JSON.stringify(parts)) throw new Error(`nothing to change by ${change}`)
    parts = changed
  }
  return {
    ...joinSegments(parts),
    samplingParams: python.samplingParams,
    toolRuns: rollscope.toolRuns ?? python.toolRuns,
    outcomes: rollscope.outcomes ?? python.outcomes.map((name) => outcomes[name] ?? name),
  }
}

/** Outcomes of strands-sglang, with the outcome of Rollscope that each corresponds to. */
const outcomes: Readonly<Record<string, string>> = {
  end_turn: 'end_turn',
  MaxTokensReachedException: 'length',
  ContextWindowOverflowException: 'context_full',
  ModelThrottledException: 'UPSTREAM_BUSY',
  'SGLangHTTPError 401': 'UPSTREAM_AUTH',
  'SGLangHTTPError 403': 'UPSTREAM_AUTH',
  'SGLangHTTPError 404': 'UPSTREAM_REJECTED',
  MaxToolIterationsReachedError: 'max_tool_iterations',
  MaxToolCallsReachedError: 'max_tool_calls',
  MaxMessagesReachedError: 'max_messages',
}

/** A record as segments, so that ids can be inserted and removed. */
export interface RecordParts {
  readonly segments: readonly { readonly output: boolean; readonly ids: readonly number[]; readonly scored: boolean }[]
  readonly requests: readonly {
    /** Number of leading segments that the request contains. */
    readonly holds: number
    /** Ids after them that were never recorded. */
    readonly more: readonly number[]
    readonly maxNewTokens: number
    readonly status: number
  }[]
}

/** Splits a record into segments. */
export function splitRecord({ tokenIds, logprobs, segments, requests }: AgentRecord): RecordParts {
  const ends = segments.map((_, index) => segments.slice(0, index + 1).reduce((sum, [, length]) => sum + length, 0))
  return {
    segments: segments.map(([output, length], index) => {
      const end = ends[index] as number
      const known = logprobs.slice(end - length, end)
      return {
        output: output === 1,
        ids: tokenIds.slice(end - length, end),
        scored: known.some((value) => value !== null),
      }
    }),
    requests: requests.map(({ inputIds, maxNewTokens, status }) => {
      const isRecorded = (end: number) => inputIds.slice(0, end).join() === tokenIds.slice(0, end).join()
      const holds = ends.filter((end) => end <= inputIds.length && isRecorded(end)).length
      return { holds, more: inputIds.slice(holds === 0 ? 0 : ends[holds - 1]), maxNewTokens, status }
    }),
  }
}

/** Joins segments to a record; the inverse of `split`. */
export function joinSegments({
  segments,
  requests,
}: RecordParts): Omit<AgentRecord, 'samplingParams' | 'toolRuns' | 'outcomes'> {
  const tokenIds = segments.flatMap(({ ids }) => ids)
  const lengthOf = (holds: number) => segments.slice(0, holds).reduce((sum, { ids }) => sum + ids.length, 0)
  return {
    tokenIds,
    lossMask: segments.flatMap(({ ids, output }) => ids.map(() => (output ? 1 : 0))),
    logprobs: segments
      .flatMap(({ ids, scored }) => ids.map(() => scored))
      .map((scored, index) => (scored && index > 0 ? scriptedLogprob(tokenIds[index] as number, index) : null)),
    segments: segments.map(({ output, ids }) => [output ? 1 : 0, ids.length]),
    requests: requests.map(({ holds, more, maxNewTokens, status }) => {
      const inputIds = [...tokenIds.slice(0, lengthOf(holds)), ...more]
      // The ids recorded before the call: all ids but the new prompt, whether that was recorded later or never.
      const before = more.length > 0 ? lengthOf(holds) : lengthOf(holds - 1)
      return { inputIds, maxNewTokens, status, logprobStartLen: Math.max(0, before - 1) }
    }),
  }
}

type Change = (parts: RecordParts, promptEncoder: PromptEncoder) => RecordParts

/** Divergences that change a record in the same way in every scenario. */
const structural: Readonly<Record<string, Change>> = {
  'closes-turn': closingTurns,
  'no-second-header': droppingSecondHeaders,
  'empty-response': keepingEmptyResponses,
  'needs-logprobs': recordingNothing,
}

const prompts = (
  parts: RecordParts,
  idsOf: (ids: readonly number[], last: number | undefined) => readonly number[],
): RecordParts => ({
  ...parts,
  segments: parts.segments.map((segment, index) => {
    const last = parts.segments
      .slice(0, index)
      .flatMap(({ ids }) => ids)
      .at(-1)
    return segment.output ? segment : { ...segment, ids: idsOf(segment.ids, last) }
  }),
})

/** If the last id is not the template's end of a turn, the next prompt begins with it. */
function closingTurns(parts: RecordParts, promptEncoder: PromptEncoder): RecordParts {
  const end = endOfTurnId(promptEncoder, {})
  if (end === undefined) throw new Error('the template has no token that ends a turn')
  return prompts(parts, (ids, last) => (last === undefined || last === end ? ids : [end, ...ids]))
}

/** If the model wrote the next header as its stop token, the next prompt does not repeat it. */
function droppingSecondHeaders(parts: RecordParts): RecordParts {
  return prompts(parts, (ids, last) => (ids[0] === last ? ids.slice(1) : ids))
}

/** Inserts an empty response between two consecutive prompts. */
function keepingEmptyResponses({ segments, requests }: RecordParts): RecordParts {
  const at = segments.findIndex((segment, index) => index > 0 && !segment.output && !segments[index - 1]?.output)
  if (at < 0) throw new Error('no two prompts follow each other')
  return {
    segments: [...segments.slice(0, at), { output: true, ids: [], scored: false }, ...segments.slice(at)],
    requests: requests.map((request) => (request.holds > at ? { ...request, holds: request.holds + 1 } : request)),
  }
}

/** Removes everything but the first request: that call fails, and nothing is recorded. */
function recordingNothing({ segments, requests }: RecordParts): RecordParts {
  return {
    segments: [],
    requests: requests.slice(0, 1).map((request) => ({ ...request, holds: 0, more: segments[0]?.ids ?? [] })),
  }
}

function reading(there: string, here: string): Change {
  return (parts, { tokenizer }) =>
    prompts(parts, (ids) => {
      const text = textOfIds(ids, tokenizer)
      return text.includes(there) ? tokenizer.encode(text.replace(there, () => here)) : ids
    })
}

function stoppingAfter(count: number): Change {
  return ({ segments, requests }) => {
    const checkedRequests = requests.slice(0, count)
    const { holds = 0, ...last } = checkedRequests.at(-1) ?? { more: [], maxNewTokens: 0, status: 0 }
    // If the next request repeats this one, nothing of this one is recorded here.
    if (requests[count]?.holds === holds) {
      const more = segments[holds - 1]?.ids ?? []
      return {
        requests: [...checkedRequests.slice(0, -1), { ...last, holds: holds - 1, more }],
        segments: segments.slice(0, holds - 1),
      }
    }
    return { requests: checkedRequests, segments: segments.slice(0, holds + 1) }
  }
}
