/** Counts of a session for its row in a list. */
import { ATTACHMENT_KINDS, type AttachmentKind } from './attachment-kind.ts'
import { EQUALITY_RULES, type EqualityRule } from './equality.ts'
import type { NodeOutcome, SessionNode } from './forest.ts'
import { leavesOf } from './samples.ts'

/** Counts of a session. */
export interface SessionSummary {
  readonly calls: number
  readonly nodes: number
  readonly leaves: number
  /** Number of different first prompts: calls without a parent that do not repeat another one. */
  readonly roots: number
  /** Number of calls of each kind. */
  readonly kinds: Readonly<Record<AttachmentKind['kind'], number>>
  /** Number of calls that needed each rule. Rules that none needed are omitted. */
  readonly accepted: Readonly<Partial<Record<EqualityRule, number>>>
  /** Number of nodes of each status. */
  readonly statuses: Readonly<Record<NodeOutcome['status'], number>>
  readonly tokens: {
    /** Tokens of all nodes; shared ones count once. */
    readonly all: number
    /** Those that the model sampled. */
    readonly sampled: number
  }
}

/** Counts the nodes of a session. */
export function summaryOf(nodes: readonly SessionNode[]): SessionSummary {
  const calls = nodes.filter(({ choice }) => choice === 0)
  const count = (holds: (node: SessionNode) => boolean, among = nodes) => among.filter(holds).length
  const rules = EQUALITY_RULES.map(
    (rule) => [rule, count(({ accepted }) => accepted.some((each) => each.rule === rule), calls)] as const,
  )
  return {
    calls: calls.length,
    nodes: nodes.length,
    leaves: leavesOf(nodes).length,
    roots: count(({ parent, attached }) => parent === undefined && attached.kind !== 'retried', calls),
    kinds: Object.fromEntries(
      ATTACHMENT_KINDS.map((kind) => [kind, count(({ attached }) => attached.kind === kind, calls)]),
    ) as Record<AttachmentKind['kind'], number>,
    accepted: Object.fromEntries(rules.filter(([, calls]) => calls > 0)),
    statuses: {
      complete: count(({ status }) => status === 'complete'),
      aborted: count(({ status }) => status === 'aborted'),
      failed: count(({ status }) => status === 'failed'),
    },
    tokens: {
      all: nodes.reduce((sum, { tokens }) => sum + tokens.prompt + tokens.reply, 0),
      sampled: nodes.reduce((sum, { tokens }) => sum + tokens.reply, 0),
    },
  }
}
