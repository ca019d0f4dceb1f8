/** Writes the request that starts branches as Python and as curl, also for a branch that is stored. */
import type { BranchBody } from '#lib/api/forest/branch.ts'
import { toSamplingRequest } from '#lib/sampling/sampling-request.ts'
import { messageText, withResultText } from '#lib/trajectory/messages/conversation.ts'
import { messageAt } from '#lib/trajectory/messages/conversation-rows.ts'
import { requestAt } from '#lib/trajectory/messages/response-calls.ts'
import { forcedAt } from '#lib/trajectory/tokens/forced-tokens.ts'
import { idsBetween, type Token, tokenAt } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { type ApiRequest, apiCurl, apiPython } from './api-request.ts'

/** The branches of a trajectory as a request. */
export interface RepeatableBranches {
  /** Key of the trajectory that they begin with. */
  readonly key: string
  readonly body: BranchBody
}

/** Returns the request that started a stored branch. Undefined if it is no branch, or if its edited message is unknown. */
export function branchOfTrajectory(trajectory: TrajectoryView): RepeatableBranches | undefined {
  const { forkedFrom, provenance } = trajectory
  if (!forkedFrom || provenance.kind !== 'rollout') return undefined
  const { trajectory: key, token: position, kind } = forkedFrom
  const token = tokenAt(trajectory, position)
  const request = (body: Omit<BranchBody, 'n'>, n = 1): RepeatableBranches => ({ key, body: { ...body, n } })
  switch (kind) {
    case 'sampled_again':
    case 'continued':
      return request({ at: position })
    case 'cut':
      return request({ at: position }, 0)
    case 'settings':
      return request({ at: position, ...settingsOf(trajectory, token) })
    case 'alternative':
    case 'forced': {
      const forced = token && forcedIds(token)
      if (!token || !forced) return undefined
      // The forced tokens were not sampled: the settings are those of the token after them.
      const settings = settingsOf(trajectory, tokenAt(trajectory, position + forced.length))
      const [alternative = 0] = forced
      const force = kind === 'forced' ? { ids: forced } : { alternative }
      return request({ at: position, force, ...settings }, isCutAfter(trajectory, position + forced.length) ? 0 : 1)
    }
    case 'message':
    case 'tool_result': {
      const edit = token && editAt(trajectory, token)
      return token && edit && request({ at: position - token.indexInSegment, edit, ...settingsOf(trajectory, token) })
    }
    case 'rendered_again':
      return undefined
  }
}

/** Returns whether nothing was sampled after the inserted tokens, because no run was requested. */
const isCutAfter = (trajectory: TrajectoryView, end: number): boolean =>
  tokenAt(trajectory, end) === undefined &&
  trajectory.outcome.kind === 'ended' &&
  trajectory.outcome.reason === 'cancelled'

/** Returns the inserted ids that begin at a token; undefined if it was not inserted. */
function forcedIds({ segment, indexInSegment }: Token): readonly number[] | undefined {
  const forced = forcedAt(segment, indexInSegment)
  return forced && idsBetween(segment.ids, { start: indexInSegment, end: forced.end })
}

/** Returns the edit of the message with the first token that differs; undefined if no message has it, and several may be edited. */
function editAt(trajectory: TrajectoryView, { segment, segmentIndex, indexInSegment }: Token): BranchBody['edit'] {
  if (segment.kind !== 'prompt') return undefined
  const { messages } = segment
  const found = messageAt(trajectory, segmentIndex, indexInSegment)?.message.message
  const message = messages.length === 1 ? 0 : found ? messages.indexOf(found) : -1
  const edited = messages[message]
  return edited && { message, text: messageText(withResultText(edited, trajectory)) }
}

/** Returns the settings of the call that sampled a token, or the reply to its prompt. */
function settingsOf(
  trajectory: TrajectoryView,
  token: Token | undefined,
): Pick<BranchBody, 'sampling' | 'server' | 'limits'> {
  const { provenance } = trajectory
  const sent = token && requestAt(trajectory, token)
  const limits = provenance.kind === 'rollout' ? provenance.limits : undefined
  return {
    ...(sent && { sampling: toSamplingRequest(sent.samplingParams) }),
    ...(sent?.server !== undefined && { server: sent.server }),
    ...(limits && Object.keys(limits).length > 0 && { limits }),
  }
}

const requestOf = ({ key, body }: RepeatableBranches): ApiRequest => ({
  path: `/api/trajectories/${encodeURIComponent(key)}/branch`,
  body,
})

/** Returns the curl command that starts the branches. */
export const branchCurl = (request: RepeatableBranches): string =>
  apiCurl(requestOf(request), 'Starts the branches and returns their keys. A branch: GET /api/trajectories/{key}.')

/** Returns the Python script that starts the branches, waits for their ends and prints them. */
export const branchPython = (request: RepeatableBranches): string =>
  apiPython(
    requestOf(request),
    `keys = answer["keys"]
paths = [f"/api/trajectories/{urllib.parse.quote(key, safe='')}" for key in keys]
branches = [call(path) for path in paths]
while any(branch["outcome"]["kind"] == "running" for branch in branches):
    time.sleep(1)
    branches = [call(path) for path in paths]
for key, branch in zip(keys, branches):
    print(key, json.dumps(branch["outcome"]))
`,
  )
