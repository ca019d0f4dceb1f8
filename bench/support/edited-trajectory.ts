/** A long trajectory and an edited version of it, with edits of every size; the same seed gives the same edits. */

import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import type { VocabEntry } from '#lib/trajectory/format/trajectory.ts'
import { vocabEntry } from '#lib/trajectory/tokens/pieces.ts'
import { ids } from '#lib/trajectory/tokens/tokens.ts'
import type { SegmentView, TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { randomNumbers } from '#lib/util/random-numbers.ts'
import { largeTrajectory, qwen } from '../../e2e/support/large-trajectory.ts'

/** A trajectory and its edited version. */
export interface EditedPair {
  readonly left: TrajectoryView
  readonly right: TrajectoryView
  /** Number of tokens that the edits removed or inserted; the shortest edit is at most as long. */
  readonly changed: number
}

const THINK_TOKENS = 5000

/** The number of edits of each kind. */
const EDITS = {
  /** 500 edits of every size. */
  mixed: {
    'a think block dropped': 4,
    'a token split again': 200,
    'words replaced': 180,
    'marks doubled': 60,
    'words dropped': 44,
    'a block moved': 8,
    'a think block put in': 4,
  },
  /** 500 edits of at most eight tokens. */
  small: { 'a token split again': 220, 'words replaced': 220, 'marks doubled': 60 },
} as const
type Edit = keyof typeof EDITS.mixed

/** Creates a pair of about `tokens` tokens on each side. */
export function editedPair(edits: keyof typeof EDITS, { tokens, seed }: { tokens: number; seed: number }): EditedPair {
  const left = largeTrajectory({ tokens: tokens - 4 * THINK_TOKENS, seed, alternatives: 0 })
  const tokenizer = qwen()
  const random = randomNumbers(seed)
  const below = (most: number) => Math.floor(random() * most)
  const blocks = Array.from({ length: 4 }, () => thinkBlock(ids(left), below(100_000), tokenizer))
  const kinds = Object.entries(EDITS[edits]).flatMap(([kind, count]) =>
    Array.from({ length: count }, () => kind as Edit),
  )
  const responses = left.segments.flatMap(({ kind }, index) => (kind === 'response' ? [index] : []))
  // Blocks that are dropped on the right are first inserted on the left.
  const ours = left.segments.map(({ ids }) => [...ids])
  for (const block of blocks) ours[responses[below(responses.length)] as number]?.unshift(...block)
  const theirs = ours.map((segment) => [...segment])
  let changed = 0
  for (const kind of kinds) changed += edit(kind)

  function edit(kind: Edit): number {
    const segment = kind.includes('think')
      ? (theirs[responses[below(responses.length)] as number] as number[])
      : (theirs[below(theirs.length)] as number[])
    const at = below(segment.length)
    switch (kind) {
      case 'a token split again': {
        const text = new TextDecoder().decode(tokenizer.bytes(segment[at] as number))
        const cut = Math.max(1, text.length >> 1)
        const again = [...tokenizer.encode(text.slice(0, cut)), ...tokenizer.encode(text.slice(cut))]
        segment.splice(at, 1, ...again)
        return again.length + 1
      }
      case 'words replaced': {
        const [gone, added] = [1 + below(8), 1 + below(8)]
        const from = below(segment.length)
        segment.splice(at, gone, ...segment.slice(from, from + added))
        return gone + added
      }
      case 'marks doubled':
        segment.splice(at, 0, segment[at] as number)
        return 1
      case 'words dropped':
        return segment.splice(at, 1 + below(200)).length
      case 'a block moved': {
        const block = segment.splice(at, 500 + below(1500))
        const other = theirs[below(theirs.length)] as number[]
        other.splice(below(other.length), 0, ...block)
        return 2 * block.length
      }
      case 'a think block put in':
        segment.unshift(...thinkBlock(ids(left), below(100_000), tokenizer))
        return THINK_TOKENS
      case 'a think block dropped': {
        // The block inserted last comes first, and nothing has been edited yet.
        const block = blocks.pop() as readonly number[]
        const holder = theirs.find((one) => block.every((id, index) => one[index] === id)) as number[]
        return holder.splice(0, block.length).length
      }
    }
  }

  const vocab: Record<string, VocabEntry> = {}
  for (const id of new Set([...ours.flat(), ...theirs.flat()])) vocab[id] = vocabEntry(tokenizer.bytes(id))
  const withSegments = (segments: readonly (readonly number[])[]): TrajectoryView => ({
    ...left,
    vocab,
    segments: segments.map(
      (ids, index): SegmentView =>
        left.segments[index]?.kind === 'prompt'
          ? { kind: 'prompt', ids, messages: [] }
          : { kind: 'response', ids, thinks: [], toolCalls: [] },
    ),
  })
  return { left: withSegments(ours), right: withSegments(theirs), changed }
}

function thinkBlock(all: readonly number[], from: number, tokenizer: Tokenizer): readonly number[] {
  const opening = tokenizer.encode('<think>\n')
  const closing = tokenizer.encode('\n</think>\n\n')
  const inner = THINK_TOKENS - opening.length - closing.length
  return [...opening, ...Array.from({ length: inner }, (_, at) => all[(from + at) % all.length] as number), ...closing]
}
