/**
 * The forest of a session: its calls of the model as nodes that are only added. The path of a node is the history that the model read
 * and its reply. A call attaches to the deepest node whose whole path is a prefix of the messages that the client sent, because the
 * tokens of this path can be kept (docs/decisions/0096). Nodes are plain data; the index makes an attachment linear in the messages.
 */
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import type { Finish, Message } from '#lib/trajectory/format/trajectory.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { countText, countWithNoun } from '#lib/util/text/count-with-noun.ts'
import {
  type AttachmentKind,
  changeBeforeReply,
  changeOfHistory,
  hasSameBeginning,
  systemMessages,
} from './attachment-kind.ts'
import {
  type AcceptedRule,
  callIdsOf,
  type EqualityRules,
  formAnywhere,
  grownHistory,
  type NormalHistory,
  rulesNeeded,
  withCallIds,
} from './equality.ts'
import { emptyHistory, extend, type FoundHistory, findHistory, messagesOf, type Position } from './history-index.ts'

/** The largest number of nodes of a session. */
export const MOST_NODES = 1024

/** What a prompt consists of besides its messages, as short texts. Calls with other tools or another template share no tokens. */
export interface PromptContext {
  /** Identity of the tools as they are rendered. */
  readonly tools: string
  /** Identity of the chat template and its options. */
  readonly template: string
}

/** Returns the context of a call. `template` identifies the chat template; `options` are its variables. */
export function promptContext(
  tools: readonly ToolSpec[],
  template: string,
  options: Readonly<Record<string, unknown>>,
): PromptContext {
  const rendered = tools.map(({ name, description, inputSchema }) => [name, description, inputSchema])
  return { tools: textHash(JSON.stringify(rendered)), template: textHash(JSON.stringify([template, options])) }
}

/** Returns the SHA-256 of a text, in hexadecimal digits. */
export const textHash = (text: string): string => bytesToHex(sha256(utf8ToBytes(text)))

/** A call as the forest needs it. */
export interface ForestCall {
  /** The whole history that the client sent. */
  readonly messages: readonly Message[]
  readonly context: PromptContext
  /** Number of replies that the client requests. Omitted: 1. */
  readonly n?: number
}

/** The place of a call in the forest, before the model has answered. */
export interface Attachment {
  readonly attached: AttachmentKind
  /** Sequence number of the node whose tokens the prompt continues. Omitted: the prompt is rendered from its first token. */
  readonly parent?: number
  readonly context: PromptContext
  /** Number of messages of the call that the path of the parent has. */
  readonly kept: number
  /** The messages after those. They name calls by the recorded ids. */
  readonly messages: readonly Message[]
  /** The rules under which messages were equal that the client sent differently. The recorded messages are used. */
  readonly accepted: readonly AcceptedRule[]
}

/** An attachment, or why the session takes no further call. */
type AttachmentResult =
  | { readonly ok: true; readonly attachment: Attachment }
  /** `why` is a sentence for a person; `hint` says what to do. */
  | { readonly ok: false; readonly why: string; readonly hint: string }

/** What the model answered to a call. */
export interface NodeOutcome {
  /** complete: the reply ended by itself. aborted: it was cut, and the client may not have read it. failed: there is none. */
  readonly status: 'complete' | 'aborted' | 'failed'
  /** The reply as the client received it. Omitted: there is none. */
  readonly reply?: Extract<Message, { role: 'assistant' }>
  /** Omitted: there is no reply. */
  readonly finish?: Finish
  readonly tokens: NodeTokens
}

/** Tokens of a node. */
interface NodeTokens {
  /** Number of tokens of the parent's path that the prompt begins with. */
  readonly start: number
  /** Number of prompt tokens after those. */
  readonly prompt: number
  /** Number of tokens that the model sampled. */
  readonly reply: number
}

/** One reply of the model. A call with n > 1 has n nodes with the same attachment. */
export interface SessionNode extends Attachment, NodeOutcome {
  /** Index of the node in the forest. */
  readonly sequence: number
  /** Number of its call in the session, from 0. */
  readonly call: number
  /** Number of the reply to the call, from 0. */
  readonly choice: number
}

/** The beginning of a history that a forest has. */
interface RecordedBeginning {
  /** Number of messages of the longest path that the history begins with; 0 if there is none. A path ends with a reply. */
  readonly messages: number
  /** Whether the whole history is the prompt of a node. */
  readonly isPrompt: boolean
}

/** The forest of a session, which grows. */
export interface SessionForest {
  readonly rules: EqualityRules
  /** All nodes, by their sequence numbers. */
  readonly nodes: readonly SessionNode[]
  /** Finds the place of a call. The forest stays unchanged. */
  readonly attach: (call: ForestCall) => AttachmentResult
  /** Returns what the forest has of a history, which is in normal form under the rules of the forest. */
  readonly recorded: (history: NormalHistory, context: PromptContext) => RecordedBeginning
  /**
   * Adds one node for each reply to a call, in order. Of the nodes that were added since the call attached, only those with the same prompt
   * matter: the call is then another sample of this prompt.
   */
  readonly append: (attachment: Attachment, outcomes: readonly NodeOutcome[]) => readonly SessionNode[]
}

/** Opens a forest with the nodes that it has so far, in their order. */
export function openForest(rules: EqualityRules, nodes: readonly SessionNode[] = []): SessionForest {
  const all: SessionNode[] = []
  const root = emptyHistory()
  /** The position of each node's path; without a reply the empty history, which nothing reads. */
  const places: Position[] = []
  const byReply = new Map<string, number[]>()
  /** The history of the last call. */
  let last: NormalHistory | undefined
  const forest: Indexed = {
    rules,
    nodesWithReply: (form) => byReply.get(form) ?? [],
    nodeAt: (sequence) => elementAt(all, sequence),
    messagesOf: (sequence) => (sequence === undefined ? [] : messagesOfPath(all, sequence)),
    pathOf: (sequence) => (sequence === undefined ? root : elementAt(places, sequence)),
  }

  /** Returns the messages of a prompt, and its position. */
  const promptOf = ({ parent, messages }: Pick<Attachment, 'parent' | 'messages'>): PromptPlace => {
    const before = forest.messagesOf(parent)
    return { messages: [...before, ...messages], position: extend(forest.pathOf(parent), before, messages, rules) }
  }
  const insert = (node: SessionNode, { messages, position: prompt }: PromptPlace): void => {
    const reply = node.reply && extend(prompt, messages, [node.reply], rules)
    all.push(node)
    places.push(reply ?? root)
    prompt.prompted.push(node.sequence)
    if (!node.reply || !reply) return
    reply.replied.push(node.sequence)
    const form = formAnywhere(node.reply, rules)
    const same = byReply.get(form) ?? []
    same.push(node.sequence)
    byReply.set(form, same)
    const key = contextKey(node.context)
    for (let at: Position | undefined = reply; at; at = at.before) at.latest.set(key, node.sequence)
  }

  for (const node of nodes) insert(node, promptOf(node))
  return {
    rules,
    nodes: all,
    attach: ({ messages, context, n = 1 }) => {
      if (all.length + n > MOST_NODES) return tooMany(all.length, n)
      const history = grownHistory(messages, rules, last)
      last = history
      return { ok: true, attachment: attachmentOf(history, context, findHistory(history, root, rules), forest) }
    },
    recorded: (history, context) => {
      const { deepest, repeated } = placeOf(context, findHistory(history, root, rules), forest)
      return { messages: forest.pathOf(deepest).depth, isPrompt: repeated !== undefined }
    },
    append: (attachment, outcomes) => {
      const call = 1 + (all.at(-1)?.call ?? -1)
      const prompt = promptOf(attachment)
      const attached = concurrentSample(attachment, prompt.position, forest) ?? attachment.attached
      return outcomes.map((outcome, choice) => {
        const node: SessionNode = { ...attachment, attached, ...outcome, sequence: all.length, call, choice }
        insert(node, prompt)
        return node
      })
    },
  }
}

/** Returns the nodes from a root to a node. */
export function pathOf(nodes: readonly SessionNode[], sequence: number): readonly SessionNode[] {
  const path: SessionNode[] = []
  for (let at: number | undefined = sequence; at !== undefined; at = path.at(-1)?.parent)
    path.push(elementAt(nodes, at))
  return path.reverse()
}

/** Returns the messages of a node's path: the history that the model read, then its reply. */
export const messagesOfPath = (nodes: readonly SessionNode[], sequence: number): readonly Message[] =>
  pathOf(nodes, sequence).flatMap(({ messages, reply }) => (reply ? [...messages, reply] : messages))

/** A whole prompt in the index. */
interface PromptPlace {
  readonly messages: readonly Message[]
  readonly position: Position
}

/** The nodes of a forest and their positions in its index. */
interface Indexed {
  readonly rules: EqualityRules
  readonly nodeAt: (sequence: number) => SessionNode
  /** The messages of a node's path; none without a node. */
  readonly messagesOf: (sequence: number | undefined) => readonly Message[]
  /** The position of a node's path; the empty history without a node. */
  readonly pathOf: (sequence: number | undefined) => Position
  /** Returns the nodes whose reply has a form, in order. */
  readonly nodesWithReply: (form: string) => readonly number[]
}

const contextKey = ({ tools, template }: PromptContext): string => `${tools} ${template}`

function tooMany(count: number, n: number): AttachmentResult {
  const further = n === 1 ? '' : `, and the call requests ${countWithNoun(n, 'reply', 'replies')}`
  return {
    ok: false,
    why: `The session has ${countWithNoun(count, 'node')} of at most ${countText(MOST_NODES)}${further}. More almost always means that the harness is not replaying history verbatim.`,
    hint: 'Look at the kinds of the calls on the page of the session, or begin a new session.',
  }
}

/** Returns the kind of a call whose prompt a call has that ended since it attached; undefined if there is none. */
function concurrentSample(
  { attached, parent, context, messages }: Attachment,
  { prompted }: Position,
  { nodeAt }: Indexed,
): AttachmentKind | undefined {
  // Ids without messages have no place, and a prompt without its deleted beginning has another one.
  const isDeleted = attached.kind === 'new-root' && attached.because === 'deleted'
  if (attached.kind === 'retried' || isDeleted || messages.length === 0) return undefined
  const text = JSON.stringify(messages)
  const same = prompted
    .map(nodeAt)
    .filter(
      (node) =>
        node.parent === parent &&
        contextKey(node.context) === contextKey(context) &&
        JSON.stringify(node.messages) === text,
    )
  const other = same.find(({ status }) => status === 'complete') ?? same[0]
  return other && { kind: 'retried', of: other.sequence - other.choice, isConcurrent: true }
}

/** Returns the deepest node whose path the history begins with, and the last node whose prompt it is. */
function placeOf(
  context: PromptContext,
  { prefixes, prompted }: FoundHistory,
  { nodeAt, pathOf: positionOf }: Indexed,
): { readonly deepest: number | undefined; readonly repeated: number | undefined } {
  const key = contextKey(context)
  const isOwn = (sequence: number) => contextKey(nodeAt(sequence).context) === key
  const deepest = prefixes.findLast(isOwn)
  const { depth } = positionOf(deepest)
  // A prompt that another call had sent as its first one is not repeated if a path has grown to it.
  const repeated = prompted.findLast((each) => isOwn(each) && positionOf(nodeAt(each).parent).depth === depth)
  return { deepest, repeated }
}

function attachmentOf(
  history: NormalHistory,
  context: PromptContext,
  found: FoundHistory,
  forest: Indexed,
): Attachment {
  const { rules, nodeAt } = forest
  const { deepest, repeated } = placeOf(context, found, forest)
  const messagesKept = forest.pathOf(deepest).depth
  const parent = repeated === undefined ? deepest : nodeAt(repeated).parent
  const before = forest.messagesOf(parent)
  const recorded = repeated === undefined ? before : [...before, ...nodeAt(repeated).messages]
  const attached: AttachmentKind =
    repeated === undefined
      ? changeOf(history, context, found, forest, messagesKept)
      : { kind: 'retried', of: repeated - nodeAt(repeated).choice }
  return {
    attached,
    ...(parent !== undefined && { parent }),
    context,
    kept: messagesKept,
    messages: repeated === undefined ? withRecordedIds(history, recorded) : nodeAt(repeated).messages,
    accepted: rulesNeeded(recorded, history.messages, rules),
  }
}

/** Returns the kind of a call whose prompt is new. */
function changeOf(
  { messages }: NormalHistory,
  context: PromptContext,
  { positions, prefixes }: FoundHistory,
  forest: Indexed,
  kept: number,
): AttachmentKind {
  const { nodeAt, pathOf: positionOf } = forest
  const key = contextKey(context)
  const own = latestAt(positions, ({ latest }) => latest.get(key))
  if (own && (kept > 0 || hasSameBeginning(messages, messagesOf(positionOf(own.node)), own.shared))) {
    const rest = messagesOf(positionOf(own.node), own.shared)
    // A client that disconnected does not send back the reply that it may not have read.
    const sent = nodeAt(own.node).status === 'aborted' ? rest.slice(0, -1) : rest
    if (sent.length === 0 && kept === 0) return { kind: 'new-root', because: 'first-call' }
    const change = changeOfHistory(messages, { ...own, rest: sent }, kept)
    return change.kind === 'continued' ? change : (changeBefore(messages, own, key, forest) ?? change)
  }
  const any = latestAt(positions, ({ latest }) => (latest.size === 0 ? undefined : Math.max(...latest.values())))
  if (!any) return { kind: 'new-root', because: 'first-call' }
  const other = messagesOf(positionOf(any.node))
  if (!hasSameBeginning(messages, other, any.shared)) {
    const hasSystem = systemMessages(messages) + systemMessages(other) > 0
    return { kind: 'new-root', because: hasSystem ? 'system-prompt' : 'first-message' }
  }
  const instead = prefixes.at(-1)
  const because = nodeAt(any.node).context.tools === context.tools ? 'template' : 'tools'
  return { kind: 'new-root', because, ...(instead !== undefined && { instead }) }
}

/**
 * Returns the kind of a call that changed messages and kept a reply after them. The reply shows which of the histories it changed: the
 * last one need not be the one that the client continued.
 */
function changeBefore(
  messages: readonly Message[],
  { position, shared }: NearestPosition,
  key: string,
  { rules, nodeAt, nodesWithReply, pathOf: positionOf }: Indexed,
): AttachmentKind | undefined {
  for (const message of messages.slice(shared).reverse()) {
    if (message.role !== 'assistant') continue
    const node = nodesWithReply(formAnywhere(message, rules)).findLast(
      (each) => contextKey(nodeAt(each).context) === key && beginsWith(positionOf(each), position),
    )
    const change =
      node !== undefined &&
      changeBeforeReply(messages, { shared, rest: messagesOf(positionOf(node), shared), node }, rules)
    if (change) return change
  }
  return undefined
}

/** Returns whether a history begins with another one. */
function beginsWith(end: Position, beginning: Position): boolean {
  let at: Position | undefined = end
  while (at && at.depth > beginning.depth) at = at.before
  return at === beginning
}

/** The position that most messages of a history lead to, among those with a node. */
interface NearestPosition {
  readonly position: Position
  /** Its number of messages. */
  readonly shared: number
  readonly node: number
}

/** Returns the deepest position with a node, and of several the one with the latest node. */
function latestAt(
  positions: readonly Position[],
  nodeOf: (position: Position) => number | undefined,
): NearestPosition | undefined {
  let best: NearestPosition | undefined
  for (const position of positions) {
    const node = nodeOf(position)
    if (node !== undefined && (!best || position.depth > best.shared || node > best.node))
      best = { position, shared: position.depth, node }
  }
  return best
}

/**
 * Returns the messages of a history after the recorded ones. Where the client numbered the ids of calls anew, they are the recorded
 * ids again; an id of a new call that is already the id of another one gets a suffix.
 */
function withRecordedIds(history: NormalHistory, recorded: readonly Message[]): readonly Message[] {
  const names = new Map<string, string>()
  const stored = [...new Set(recorded.flatMap(callIdsOf))]
  for (const [index, sent] of history.callIds(recorded.length).entries()) names.set(sent, elementAt(stored, index))
  const taken = new Set(stored)
  const rename = (id: string): string => {
    const known = names.get(id)
    if (known !== undefined) return known
    let name = id
    for (let number = 2; taken.has(name); number++) name = `${id}_${number}`
    names.set(id, name)
    taken.add(name)
    return name
  }
  return history.messages.slice(recorded.length).map((message) => withCallIds(message, rename))
}
