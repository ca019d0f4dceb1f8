/** Calls of a session as texts: how each attached to the forest, and what it added. */
import { compareBothHref } from '#components/shell/hrefs.ts'
import { countText } from '#components/token-view/numbers.ts'
import type { SessionCallRow, SessionNodeRow } from '#lib/api/sessions/session.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'

/** A node of the forest with its call. */
export interface SessionCallNode {
  readonly call: SessionCallRow
  readonly node: SessionNodeRow
}

/** A row of the list of calls: a reply of the model, or a call without any, such as one that was refused. */
export interface CallEntry {
  readonly call: SessionCallRow
  /** Undefined: the call has no place in the forest. */
  readonly node: SessionNodeRow | undefined
}

/** Returns the rows of all calls, in their order. */
export const callEntries = (calls: readonly SessionCallRow[]): readonly CallEntry[] =>
  calls.flatMap((call) => (call.nodes.length > 0 ? call.nodes : [undefined]).map((node) => ({ call, node })))

/** Returns a key of a row that it keeps while its session grows. */
export const entryKey = ({ call, node }: CallEntry): string => (node ? `${node.node}` : `call ${call.sequence}`)

/** Returns the nodes of all calls, in their order. */
export const nodesOfCalls = (calls: readonly SessionCallRow[]): readonly SessionCallNode[] =>
  calls.flatMap((call) => call.nodes.map((node) => ({ call, node })))

/** How a call attached, as a person reads it. */
export interface AttachmentText {
  readonly kind: string
  /** What follows the kind: '' if it says everything. */
  readonly detail: string
  /** `quiet` is usual, `note` is a retry or a rollback, `bad` is a rewrite or an error, and `root` begins a tree. */
  readonly tone: 'quiet' | 'note' | 'bad' | 'root'
}

const REASONS: Readonly<Record<string, string>> = {
  'system-prompt': 'another system prompt',
  'first-message': 'another first message',
  tools: 'other tools',
  template: 'another template',
  deleted: 'its trajectory was deleted',
}

/** Returns the text of an attachment. `nodes` are those of the session, whose calls are named. */
export function attachmentText(
  { attached, status }: SessionCallRow,
  nodes: readonly SessionCallNode[],
): AttachmentText {
  const failure = attached ? undefined : failureKind(status)
  if (failure !== undefined) return { kind: failure, detail: `status ${status}`, tone: 'bad' }
  switch (attached?.kind) {
    case 'new-root':
      return { kind: 'new root', detail: REASONS[`${attached.because}`] ?? '', tone: 'root' }
    case 'retried': {
      const repeated = nodes.find(({ node }) => node.node === attached.of)
      const detail = repeated ? `same prompt as ${repeated.call.sequence}` : ''
      return attached.isConcurrent
        ? { kind: 'sample', detail, tone: 'quiet' }
        : { kind: 'retried', detail, tone: 'note' }
    }
    case 'rolled-back':
      return { kind: 'rolled back', detail: `to message ${attached.to}`, tone: 'note' }
    case 'rewritten':
      return { kind: 'rewritten', detail: `from message ${attached.from}`, tone: 'bad' }
    default:
      return { kind: attached ? 'continued' : 'passed through', detail: '', tone: 'quiet' }
  }
}

/** Status of a call whose client left before it was answered. */
const CLIENT_LEFT = 499

/** Returns what happened to a call without a place in the forest; undefined if it was answered. */
function failureKind(status: number): 'refused' | 'failed' | undefined {
  if (status < 400) return undefined
  return status < 500 && status !== CLIENT_LEFT ? 'refused' : 'failed'
}

/** Returns how many messages a call added, cut or replaced; of a call without a place in the forest, how many it has. */
export function messagesText({ attached, messages, added }: SessionCallRow): string {
  if (!attached) return countText(messages)
  switch (attached.kind) {
    case 'new-root':
      return countText(messages)
    case 'rolled-back':
      return `− ${attached.dropped} + ${attached.added}`
    case 'rewritten':
      return `${attached.replaced} → ${attached.by}`
    default:
      return `+ ${countText(added)}`
  }
}

/** Returns what happened to the history, in one sentence; '' if the client only added messages. */
export function changeSentence({ attached }: SessionCallRow): string {
  switch (attached?.kind) {
    case 'retried':
      return attached.isConcurrent
        ? 'The client sent the same prompt while the other call ran.'
        : 'The client sent the same prompt again.'
    case 'rolled-back':
      return `The client cut ${countWithNoun(Number(attached.dropped), 'message')} after message ${attached.to} and added ${attached.added}.`
    case 'rewritten':
      return `The client replaced ${countWithNoun(Number(attached.replaced), 'message')} from message ${attached.from} on by ${attached.by}.`
    default:
      return ''
  }
}

/** Returns the node whose history a call repeated, cut or replaced; undefined if it only continues one. */
export function forkedFrom(
  { attached }: SessionCallRow,
  nodes: readonly SessionCallNode[],
): SessionCallNode | undefined {
  const other = attached?.kind === 'retried' ? attached.of : attached?.abandoned
  return typeof other === 'number' ? nodes.find(({ node }) => node.node === other) : undefined
}

/** Returns what a row shows of its reply. */
export function replyText({ call, node }: CallEntry): string {
  if (node?.status === 'running') return 'generating…'
  if (!node || node.status === 'failed') return call.error ?? `status ${call.status}`
  return node.status === 'aborted' ? `aborted: ${node.text}` : node.text
}

/** Returns a line that counts what a session consists of. */
export function forestText(calls: readonly SessionCallRow[], leaves: number): readonly string[] {
  const count = (kind: string) =>
    calls.filter(({ attached }) => attached?.kind === kind && !('isConcurrent' in attached)).length
  const samples = calls.filter(({ attached }) => attached && 'isConcurrent' in attached).length
  const rules = [...new Set(calls.flatMap(({ accepted }) => accepted.map(({ rule }) => rule)))]
  const without = calls.filter(({ nodes }) => nodes.length === 0).map(({ status }) => failureKind(status))
  const counted: readonly (readonly [number, string])[] = [
    [samples, samples === 1 ? 'other sample' : 'other samples'],
    [count('retried'), 'retried'],
    [count('rolled-back'), 'rolled back'],
    [count('rewritten'), 'rewritten'],
    [without.filter((kind) => kind === 'refused').length, 'refused'],
    [without.filter((kind) => kind === 'failed').length, 'failed without a place'],
  ]
  return [
    countWithNoun(leaves, 'leaf', 'leaves'),
    countWithNoun(count('new-root'), 'root'),
    ...counted.flatMap(([number, kind]) => (number > 0 ? [`${countText(number)} ${kind}`] : [])),
    ...(rules.length > 0 ? [`accepted: ${rules.join(', ')}`] : []),
  ]
}

/** Returns the address that compares a call with the one whose history it changed; undefined if they are on one path. */
export function comparedHref({ node }: CallEntry, other: SessionCallNode | undefined): string | undefined {
  const [own, before] = [node?.trajectory ?? null, other?.node.trajectory ?? null]
  return own !== null && before !== null && own !== before ? compareBothHref(before, own) : undefined
}
