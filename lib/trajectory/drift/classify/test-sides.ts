/** Small sides in a notation of tokens: `P` and `R` open segments, `|` separates tokens, `<…>` are special. */

import type { Message, ToolCall, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { FORMAT } from '#lib/trajectory/format/trajectory.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { ids } from '#lib/trajectory/tokens/tokens.ts'
import type { ResponseView, SegmentView, TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { compareTrajectories } from '../compare.ts'

const pieces: string[] = ['']
const idOf = (piece: string): number => {
  if (!pieces.includes(piece)) pieces.push(piece)
  return pieces.indexOf(piece)
}

interface Settings {
  /** Fingerprint of a different tokenizer. */
  readonly fingerprint?: string
  readonly tools?: Trajectory['model']['tools']
  readonly messages?: readonly Message[]
  /** True if a server sampled the segments. */
  readonly sampled?: boolean
  readonly mask?: readonly (0 | 1)[]
  /** Ids without a text. */
  readonly lacks?: readonly string[]
  /** True if think blocks and calls are unknown. */
  readonly unread?: boolean
}

/** Builds a side. `%e697` is two bytes; `(call` and `call)` delimit calls with ordinary tokens. `<e>` ends a turn. */
export function side(text: string, settings: Settings = {}): TrajectoryView {
  const { fingerprint = 'one', tools = [], lacks = [] } = settings
  const segments = [...text.matchAll(/([PR]) ([^PR]*(?:(?<! )[PR][^PR]*)*)/g)].map(([, kind, body]) =>
    segmentOf(kind as string, (body as string).trimEnd().split('|'), settings),
  )
  const known = new Set(segments.flatMap((segment) => Array.from(segment.ids)))
  return {
    format: FORMAT,
    id: 'side',
    createdAt: '',
    model: {
      tokenizer: {
        name: fingerprint,
        fingerprint,
        specialIds: [...known].filter((id) => /^<.*>$/.test(pieces[id] as string)),
        endOfTurnId: idOf('<e>'),
      },
      tools,
    },
    vocab: Object.fromEntries(
      [...known].filter((id) => !lacks.includes(pieces[id] as string)).map((id) => [id, entryOf(pieces[id] as string)]),
    ),
    segments,
    outcome: { kind: 'ended', reason: 'unknown' },
    provenance: { kind: 'recorded' },
  }
}

const entryOf = (piece: string) =>
  piece.startsWith('%') ? { hex: piece.slice(1) } : piece.replaceAll('_', ' ').replaceAll('¶', '\n')

function segmentOf(kind: string, tokens: readonly string[], settings: Settings): SegmentView {
  const own = tokens.filter((token) => token !== '').map(idOf)
  const columns = settings.mask ? { mask: settings.mask } : {}
  if (kind === 'P') return { kind: 'prompt', ids: own, messages: settings.messages ?? [], ...columns }
  const thinks = settings.unread ? [] : blocks(tokens, '<think>', '</think>').map((span) => ({ ...span, closed: true }))
  const calls = settings.unread ? [] : [...blocks(tokens, '<c>', '</c>'), ...blocks(tokens, '(call', 'call)')]
  return {
    kind: 'response',
    ids: own,
    thinks,
    toolCalls: calls.map((span, index) => callOf(tokens.slice(span.start, span.end), span, index)),
    ...(settings.sampled && { logprobs: own.map(() => -1) }),
    ...columns,
  } as ResponseView
}

function blocks(tokens: readonly string[], open: string, close: string) {
  return tokens.flatMap((token, start) => {
    if (token.replaceAll('_', '') !== open) return []
    const end = tokens.findIndex((other, index) => index > start && other.replaceAll('_', '') === close)
    return [{ start, end: end < 0 ? tokens.length : end + 1 }]
  })
}

function callOf(tokens: readonly string[], span: ToolCall['span'], index: number): ToolCall {
  const raw = tokens.slice(1, -1).map(entryOf).join('')
  const shape = { id: `call_${index}`, raw, span, text: { start: 0, end: 0 } }
  try {
    return { kind: 'parsed', ...shape, name: JSON.parse(raw).name as string, input: {}, arguments: [] }
  } catch {
    return { kind: 'malformed', ...shape, why: 'no JSON', at: 0 }
  }
}

/** Returns `kind detail: left → right` for each drift, in order. */
export function drifts(left: TrajectoryView, right: TrajectoryView): readonly string[] {
  const { report } = compareTrajectories(left, right)
  const text = (of: TrajectoryView, { start, end }: { readonly start: number; readonly end: number }) =>
    textOf(ids(of).slice(start, end), of.vocab).replaceAll('\n', '¶')
  return report.spans.map(
    (span) =>
      `${span.kind}${span.detail === undefined ? '' : ` ${span.detail}`}: ${text(left, span.left)} → ${text(right, span.right)}`,
  )
}
