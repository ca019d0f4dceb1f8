/** Trajectories of SWE-agent (`.traj`): the messages that its model read and wrote. Its steps repeat them, with states and times. */
import { isObject, type JsonObject, objectsIn, without } from '#lib/json/json-object.ts'
import { parseNestedJson } from '#lib/json/nested-json.ts'
import type { Outcome, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { conversationSegments, textTrajectory } from '../conversations/text-trajectory.ts'
import type { Format, RecordSource } from '../format.ts'
import { catchRefusals, joinedPath } from '../reading/record-error.ts'

const NAME = 'swe-agent'

/** The format of SWE-agent. */
export const sweAgent: Format = {
  name: NAME,
  label: 'SWE-agent',
  keeps: 'Messages, thinking, calls, results, exit status, submission and configuration. Texts only.',
  sniff: (value) => attemptsIn(value).length > 0,
  read: catchRefusals((value, source) => attemptsIn(value).map(({ run, path }) => runTrajectory(run, path, source))),
}

/** A run with its history. */
interface Run extends JsonObject {
  readonly history: readonly JsonObject[]
}

/** Returns the attempts of a run that was repeated, or the run itself. */
function attemptsIn(value: unknown): readonly { readonly run: Run; readonly path: string }[] {
  if (!isObject(value)) return []
  const { attempts } = value
  if (Array.isArray(attempts) && attempts.length > 0 && attempts.every(isRun))
    return attempts.map((run, index) => ({ run, path: `attempts[${index}]` }))
  return isRun(value) ? [{ run: value, path: '' }] : []
}

/** Each message of the history names its agent. */
const isRun = (value: unknown): value is Run =>
  isObject(value) &&
  Array.isArray(value.history) &&
  value.history.length > 0 &&
  value.history.every((message) => isObject(message) && 'role' in message && 'agent' in message)

function runTrajectory(run: Run, path: string, source: RecordSource): Trajectory {
  const info = isObject(run.info) ? run.info : {}
  const steps = objectsIn(run.trajectory)
  const trajectory = steps.length > 0 ? { trajectory: steps.map((step) => without(step, REPEATED) ?? {}) } : {}
  return textTrajectory(
    {
      format: NAME,
      segments: conversationSegments(run.history.map(messageOf), joinedPath(path, 'history')),
      outcome: outcomeOf(info.exit_status),
      model: modelIn(parseNestedJson(run.replay_config)),
      rest: without({ ...without(run, ['history', 'trajectory']), ...trajectory }, []),
    },
    source,
  )
}

/** Fields of a step that the history has. */
const REPEATED = ['query', 'messages', 'response', 'thought', 'action', 'observation']

/** A result names its call in a list, and blocks of thinking are beside the content. */
function messageOf({ tool_call_ids: ids, thinking_blocks: blocks, ...message }: JsonObject): JsonObject {
  const thoughts = Array.isArray(blocks)
    ? blocks.flatMap((block: unknown) =>
        isObject(block) && typeof block.thinking === 'string' ? [block.thinking] : [],
      )
    : []
  return {
    ...message,
    ...(Array.isArray(ids) && { tool_call_id: ids[0] }),
    ...(thoughts.length > 0 && { reasoning_content: thoughts.join('\n') }),
  }
}

function outcomeOf(status: unknown): Outcome {
  if (status === 'submitted') return { kind: 'ended', reason: 'end_turn' }
  const isLimit = typeof status === 'string' && /cost|context|timeout|time_limit|api/.test(status)
  return { kind: 'ended', reason: isLimit ? 'truncated' : 'unknown' }
}

function modelIn(config: unknown): string | undefined {
  const agent = isObject(config) && isObject(config.agent) ? config.agent : {}
  return isObject(agent.model) && typeof agent.model.name === 'string' ? agent.model.name : undefined
}
