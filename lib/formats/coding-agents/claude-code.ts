/**
 * Sessions of Claude Code (`~/.claude/projects/PROJECT/SESSION.jsonl`): a line for each content block of a reply, each message of the user,
 * and each event of the program. Each line names the line before it, so that edited messages and sub-agents are paths of a tree.
 */
import { isObject, type JsonObject, objectsIn, without } from '#lib/json/json-object.ts'
import type { Outcome, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { replySegment } from '../conversations/anthropic.ts'
import { type SessionMessage, sessionSegments } from '../conversations/session-messages.ts'
import { outcomeOfMessages, recordsOf, textTrajectory } from '../conversations/text-trajectory.ts'
import { isoText } from '../foreign-trajectory.ts'
import type { Format, RecordSource } from '../format.ts'
import { catchRefusals } from '../reading/record-error.ts'

const NAME = 'claude-code'

/** The format of Claude Code. */
export const claudeCode: Format = {
  name: NAME,
  label: 'Claude Code',
  keeps: 'Messages, thinking, calls, results and counts; a trajectory for each path. Texts only.',
  joins: true,
  sniff: isLine,
  read: catchRefusals(pathsOf),
}

/** Types of lines that have no id of a session. */
const WITHOUT_SESSION: readonly unknown[] = ['summary', 'file-history-snapshot']

function isLine(value: unknown): boolean {
  if (!isObject(value) || typeof value.type !== 'string') return false
  if (WITHOUT_SESSION.includes(value.type)) return 'leafUuid' in value || 'snapshot' in value
  return typeof value.sessionId === 'string' && !('messages' in value)
}

/** Lines that are one message: the blocks of a reply, or the results of its calls. */
interface Node {
  readonly parent: Node | undefined
  readonly lines: Line[]
  hasChildren: boolean
  /** The error that the server returned after it. */
  error: JsonObject | undefined
}

interface Line {
  readonly record: JsonObject
  readonly message: JsonObject
  readonly path: string
}

function pathsOf(value: unknown, source: RecordSource): readonly Trajectory[] {
  const nodes: Node[] = []
  /** The node of each line, or of the nearest message before it. */
  const nodeOf = new Map<unknown, Node | undefined>()
  const byKey = new Map<string, Node>()
  const others: JsonObject[] = []
  for (const { record, path } of recordsOf(value)) {
    // A resumed session may repeat lines.
    if (record.uuid !== undefined && nodeOf.has(record.uuid)) continue
    const before = nodeOf.get(record.parentUuid)
    const { message } = record
    if (!isMessage(record) || !isObject(message)) {
      others.push(record)
      nodeOf.set(record.uuid, before)
      if (before && record.isApiErrorMessage === true) before.error = record
      continue
    }
    const key = keyOf(message, before)
    const known = key === undefined ? undefined : byKey.get(key)
    const node: Node = known ?? { parent: before, lines: [], hasChildren: false, error: undefined }
    if (!known) {
      nodes.push(node)
      if (before) before.hasChildren = true
      if (key !== undefined) byKey.set(key, node)
    }
    node.lines.push({ record, message, path })
    nodeOf.set(record.uuid, node)
  }
  const title = titleIn(others)
  return nodes
    .filter(({ hasChildren }) => !hasChildren)
    .map((leaf, number) => {
      const trajectory = pathTrajectory(leaf, number === 0 ? others : [], source)
      return title === undefined ? trajectory : { ...trajectory, title }
    })
}

/** The program writes errors of the server as messages of a model that does not exist. */
const isMessage = ({ type, message }: JsonObject): boolean =>
  (type === 'user' || type === 'assistant') && isObject(message) && message.model !== SYNTHETIC

const SYNTHETIC = '<synthetic>'

/** Returns the key of lines that are one message; undefined for a line that is a message of its own. */
function keyOf(message: JsonObject, before: Node | undefined): string | undefined {
  if (message.role === 'assistant') return typeof message.id === 'string' ? `reply ${message.id}` : undefined
  const [result] = resultsIn(message)
  // Results of parallel calls are lines after different blocks of one reply.
  const reply = result && before?.lines.find(({ message: { role } }) => role === 'assistant')
  return typeof reply?.message.id === 'string' ? `results ${reply.message.id}` : undefined
}

const resultsIn = ({ content }: JsonObject): readonly JsonObject[] =>
  objectsIn(content).filter(({ type }) => type === 'tool_result')

function pathTrajectory(leaf: Node, others: readonly JsonObject[], source: RecordSource): Trajectory {
  const path: Node[] = []
  for (let node: Node | undefined = leaf; node; node = node.parent) path.unshift(node)
  const lines = path.flatMap((node) => node.lines)
  const segments = sessionSegments(path.map(({ lines: own }) => messageOf(own)))
  const first = elementAt(lines, 0).record
  const models = lines.flatMap(({ message: { model } }) => (typeof model === 'string' ? [model] : []))
  const results = lines.flatMap(({ record, message }) =>
    resultsIn(message).map(({ tool_use_id: id }) => [String(id), record.toolUseResult] as const),
  )
  return textTrajectory(
    {
      format: NAME,
      segments,
      outcome: leaf.error ? failureOf(leaf.error) : outcomeOfMessages(segments),
      model: models.at(-1),
      createdAt: isoText(first.timestamp),
      lacked: ['system prompt and attachments: Claude Code adds them to each request'],
      rest: {
        ...without(first, OF_LINES),
        ...(results.length > 0 && { toolUseResults: Object.fromEntries(results) }),
        ...(others.length > 0 && { otherLines: others }),
      },
    },
    source,
  )
}

/** Fields of a single line. */
const OF_LINES = ['message', 'uuid', 'parentUuid', 'timestamp', 'type', 'toolUseResult', 'requestId', 'promptId']

/** Returns the message of its lines. */
function messageOf(lines: readonly Line[]): SessionMessage {
  const { message, path } = elementAt(lines, 0)
  const last = elementAt(lines, lines.length - 1).message
  const content = lines.length > 1 ? lines.flatMap((line) => objectsIn(line.message.content)) : message.content
  const { finish, usage } = replySegment(last)
  return {
    message: { role: message.role, content },
    path: `${path}message`,
    about: { ...(finish && { finish }), ...(usage && { usage }) },
  }
}

function failureOf({ message }: JsonObject): Outcome {
  const [block] = isObject(message) ? objectsIn(message.content) : []
  const text = typeof block?.text === 'string' ? block.text : 'The server answered with an error.'
  return { kind: 'failed', code: 'API_ERROR', message: text }
}

function titleIn(others: readonly JsonObject[]): string | undefined {
  const titles = others.flatMap((line) => [line.customTitle, line.aiTitle, line.summary])
  return titles.findLast((title) => typeof title === 'string')
}
