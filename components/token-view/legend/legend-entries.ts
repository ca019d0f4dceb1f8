/** The marks of a token view, their meaning, and which of them the view shows now. Background colours have a legend of their own. */

import { hasHiddenCharacter } from '#components/ui/visible-text.ts'
import { imageSpansOf } from '#lib/trajectory/images/image-boxes.ts'
import { isSpecial, isTrained, segmentsOf } from '#lib/trajectory/tokens/tokens.ts'
import type { SegmentView, TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { OverlayMark } from '../grid/row-overlay.ts'
import type { Folds, GridOptions } from '../grid-options.ts'
import { completedCharacter, partBytes } from '../pieces/split-character.ts'
import type { MarkKind } from '../token-marks.ts'

/** The parts of a token view that its marks depend on. */
export interface LegendSource {
  /** `run`: a live run, without minimap and Trainer tab; `lanes`: the two trajectories of a comparison. */
  readonly view: 'inspector' | 'run' | 'lanes'
  readonly trajectories: readonly TrajectoryView[]
  /** Kinds of marks that at least one token has. */
  readonly markKinds: readonly MarkKind[]
  readonly isSelected: boolean
  readonly options: GridOptions
  readonly folds: Folds
}

/** One mark of the legend. */
export interface LegendEntry {
  readonly title: string
  readonly meaning: string
  readonly sample: LegendSample
  /** Views that can have the mark. If omitted, every view can. */
  readonly views?: readonly LegendSource['view'][]
  readonly occurs: (source: CountedSource) => boolean
}

interface CountedSource extends LegendSource {
  /** Distinct token ids of each trajectory. */
  readonly ids: readonly ReadonlySet<number>[]
}

/** What is drawn beside an entry. */
export type LegendSample = RowSample | { readonly kind: 'rail' | 'minimap' | 'gap' | 'signs' | 'segment-rules' }

/** A line of tokens in the style of the view; a mark covers the whole text. */
export interface RowSample {
  readonly kind: 'row'
  readonly text: string
  /** Marks of spaces and line ends, over the text. */
  readonly glyphs?: string
  readonly isTrained?: boolean
  /** Whether a branch inserted the tokens. */
  readonly isForced?: boolean
  readonly span?: 'think' | 'tool-call'
  readonly isFolded?: boolean
  readonly ground?: 'special' | 'groups'
  /** Columns at which tokens end. */
  readonly boundaries?: readonly number[]
  readonly overlay?: OverlayMark['kind']
  readonly box?: 'token-selected' | 'token-pointed' | 'token-partner'
}

/** Entries under one heading. */
export interface LegendGroup {
  readonly title: string
  readonly entries: readonly LegendEntry[]
}

/** Returns the entries that the view shows now, in groups without empty ones, and those that it could show. */
export function legendOf(source: LegendSource): {
  readonly present: readonly LegendGroup[]
  readonly absent: readonly LegendEntry[]
} {
  const groups = GROUPS.map(({ title, entries }) => ({
    title,
    entries: entries.filter(({ views }) => views === undefined || views.includes(source.view)),
  }))
  const counted = { ...source, ids: source.trajectories.map(idsIn) }
  const occurring = new Set(groups.flatMap(({ entries }) => entries.filter(({ occurs }) => occurs(counted))))
  return {
    present: groups
      .map(({ title, entries }) => ({ title, entries: entries.filter((entry) => occurring.has(entry)) }))
      .filter(({ entries }) => entries.length > 0),
    absent: groups.flatMap(({ entries }) => entries.filter((entry) => !occurring.has(entry))),
  }
}

const marks =
  (...kinds: readonly MarkKind[]) =>
  ({ markKinds }: LegendSource) =>
    kinds.some((kind) => markKinds.includes(kind))

function idsIn(trajectory: TrajectoryView): ReadonlySet<number> {
  const ids = new Set<number>()
  for (const segment of segmentsOf(trajectory))
    for (let index = 0; index < segment.ids.length; index++) ids.add(elementAt(segment.ids, index))
  return ids
}

const someSegment = ({ trajectories }: LegendSource, holds: (segment: SegmentView) => boolean): boolean =>
  trajectories.some((trajectory) => segmentsOf(trajectory).some(holds))

const someToken = (
  { trajectories, ids }: CountedSource,
  holds: (id: number, trajectory: TrajectoryView) => boolean,
): boolean => trajectories.some((trajectory, index) => [...(ids[index] ?? [])].some((id) => holds(id, trajectory)))

const isBytes = (id: number, { vocab }: TrajectoryView): boolean => partBytes(vocab[id]) !== undefined

const hasHidden = (id: number, { vocab }: TrajectoryView): boolean => {
  const entry = vocab[id]
  return typeof entry === 'string' && hasHiddenCharacter(entry)
}

const hasMask = (segment: SegmentView, trained: boolean): boolean => {
  if (!segment.mask) return segment.ids.length > 0 && (segment.kind === 'response') === trained
  for (let index = 0; index < segment.ids.length; index++) if (isTrained(segment, index) === trained) return true
  return false
}

function hasSplitCharacter(source: CountedSource): boolean {
  if (!someToken(source, isBytes)) return false
  return source.trajectories.some((trajectory) =>
    segmentsOf(trajectory).some(({ ids }) => {
      const part = (at: number) => partBytes(trajectory.vocab[elementAt(ids, at)])
      for (let index = 0; index < ids.length; index++) if (completedCharacter(part, index)) return true
      return false
    }),
  )
}

const GROUPS: readonly LegendGroup[] = [
  {
    title: 'Text and underline',
    entries: [
      {
        title: 'Trained token',
        meaning: 'underlined, strong ink: it contributes to the loss (mask 1)',
        sample: { kind: 'row', text: 'answer', isTrained: true },
        occurs: (source) => someSegment(source, (segment) => hasMask(segment, true)),
      },
      {
        title: 'Context',
        meaning: 'softer ink, no line: the model read it; it does not contribute to the loss (mask 0)',
        sample: { kind: 'row', text: 'question' },
        occurs: (source) => someSegment(source, (segment) => hasMask(segment, false)),
      },
      {
        title: 'Forced token',
        meaning: 'a dashed amber line: a branch inserted it, so it has no sampled logprob and is not trained (mask 0)',
        sample: { kind: 'row', text: 'instead', isForced: true },
        occurs: (source) =>
          someSegment(source, (segment) => segment.kind === 'response' && (segment.forced ?? []).length > 0),
      },
      {
        title: 'Spaces and line ends',
        meaning: 'a dot is a space, ↵ a line end, ⇥ a tab, ⇤ a carriage return',
        sample: { kind: 'row', text: 'a b ', glyphs: ' · ↵' },
        occurs: ({ options }) => options.showsWhitespace,
      },
      {
        title: 'Character without a shape',
        meaning: 'its code point: control, direction, zero-width and private characters',
        sample: { kind: 'row', text: '⟨U+200B⟩' },
        occurs: (source) => someToken(source, hasHidden),
      },
      {
        title: 'Bytes',
        meaning: 'a token that ends inside a character of UTF-8',
        sample: { kind: 'row', text: '⟨E6 97⟩' },
        occurs: (source) => someToken(source, isBytes),
      },
    ],
  },
  {
    title: 'Outlines and lines',
    entries: [
      {
        title: 'Selected',
        meaning: 'the pinned token, or a range of tokens; their colours do not change',
        sample: { kind: 'row', text: 'token', box: 'token-selected' },
        occurs: ({ isSelected }) => isSelected,
      },
      {
        title: 'Pointed at',
        meaning: 'the token under the pointer, which the card describes',
        sample: { kind: 'row', text: 'token', box: 'token-pointed' },
        occurs: () => true,
      },
      {
        title: 'Token boundary',
        meaning: 'a thin line after each token',
        sample: { kind: 'row', text: 'boundary', boundaries: [3, 5, 8] },
        occurs: ({ options }) => options.showsBoundaries,
      },
      {
        title: 'Special token',
        meaning: 'a thin box: an added token such as an end of turn, one id however long its text',
        sample: { kind: 'row', text: '<|end|>', ground: 'special' },
        occurs: (source) => someToken(source, (id, trajectory) => isSpecial(trajectory, id)),
      },
      {
        title: 'Split character',
        meaning: 'a tall box around the tokens that share one character',
        sample: { kind: 'row', text: '⟨E6⟩⟨97⟩', ground: 'groups' },
        occurs: hasSplitCharacter,
      },
      {
        title: 'Hit',
        meaning: 'found by the query in the find bar',
        sample: { kind: 'row', text: 'found', overlay: 'hit' },
        views: ['inspector', 'run'],
        occurs: marks('hit'),
      },
      {
        title: 'Current hit, selected drift',
        meaning: 'the current one',
        sample: { kind: 'row', text: 'found', overlay: 'current' },
        occurs: marks('current'),
      },
      {
        title: 'Drift',
        meaning: 'ids that change when the text is encoded again; a bar in the gutter marks the line',
        sample: { kind: 'row', text: 'drift', overlay: 'drift' },
        occurs: marks('drift'),
      },
      {
        title: 'Dropped token',
        meaning: 'a thick red frame: IcePop leaves the token out at the thresholds of the legend',
        sample: { kind: 'row', text: 'token', overlay: 'dropped' },
        views: ['inspector'],
        occurs: marks('dropped'),
      },
      {
        title: 'Note',
        meaning: 'a line above the tokens on which a note was written; the outline lists the notes',
        sample: { kind: 'row', text: 'token', overlay: 'note' },
        views: ['inspector', 'run'],
        occurs: marks('note'),
      },
      {
        title: 'Missing tokens',
        meaning: 'a red caret: the other sequence has tokens here, this one has none',
        sample: { kind: 'row', text: 'here', overlay: 'gap' },
        occurs: marks('gap'),
      },
      {
        title: 'Linked',
        meaning:
          'a blue tint: tokens of the element under the pointer, such as a message, a call or a point of a chart',
        sample: { kind: 'row', text: 'token', overlay: 'linked' },
        occurs: marks('linked'),
      },
      {
        title: 'First and last trained token',
        meaning: 'brackets around the trained tokens of a turn, from the Trainer tab',
        sample: { kind: 'row', text: 'answer', isTrained: true, overlay: 'edge' },
        views: ['inspector'],
        occurs: marks('edge'),
      },
      {
        title: 'Cut',
        meaning: "a line where a trainer's file ends this sequence: later tokens are not in it",
        sample: { kind: 'row', text: 'kept lost', overlay: 'cut' },
        views: ['inspector'],
        occurs: marks('cut'),
      },
      {
        title: "The other side's token",
        meaning: 'dashed: the token of the other side that is paired with the selected one',
        sample: { kind: 'row', text: 'token', box: 'token-partner' },
        views: ['lanes'],
        occurs: ({ isSelected }) => isSelected,
      },
    ],
  },
  {
    title: 'Gutter',
    entries: [
      {
        title: 'Think block',
        meaning: 'italic, with a grey bar',
        sample: { kind: 'row', text: 'let me see', isTrained: true, span: 'think' },
        occurs: (source) => someSegment(source, (segment) => segment.kind === 'response' && segment.thinks.length > 0),
      },
      {
        title: 'Tool call',
        meaning: 'a blue bar; the name of the tool, its id and whether it succeeded are at the right',
        sample: { kind: 'row', text: '{"a": 1}', isTrained: true, span: 'tool-call' },
        occurs: (source) =>
          someSegment(source, (segment) => segment.kind === 'response' && segment.toolCalls.length > 0),
      },
      {
        title: 'Segment',
        meaning: 'a grey rule beside a prompt, a green one beside a response',
        sample: { kind: 'segment-rules' },
        views: ['lanes'],
        occurs: () => true,
      },
      {
        title: 'Side',
        meaning: 'in one column: − tokens of the left side only, + of the right side only',
        sample: { kind: 'signs' },
        views: ['lanes'],
        occurs: marks('drift', 'gap'),
      },
      {
        title: 'Nothing here',
        meaning: 'hatched: tokens of the other side that are missing on this side',
        sample: { kind: 'gap' },
        views: ['lanes'],
        occurs: marks('gap'),
      },
      {
        title: 'Image',
        meaning: 'the tokens of one image, with its picture below; its name shows the tokens one by one',
        sample: { kind: 'row', text: '▸ image 1 · PNG, 640 × 480', isFolded: true },
        views: ['inspector', 'run'],
        occurs: ({ trajectories }) =>
          trajectories.some((trajectory) =>
            segmentsOf(trajectory).some((segment) => imageSpansOf(segment, trajectory).length > 0),
          ),
      },
      {
        title: 'Folded',
        meaning: 'a line for a folded segment or think block, with the marks inside it',
        sample: { kind: 'row', text: '▸ response · 64 tok', isFolded: true },
        views: ['inspector', 'run'],
        occurs: ({ folds }) => folds.segments.size + folds.thinks.size > 0,
      },
    ],
  },
  {
    title: 'Rail',
    entries: [
      {
        title: 'Segment',
        meaning:
          'its number and the index of its first token; what it is; its loss mask (0/1: both occur); its length in tokens',
        sample: { kind: 'rail' },
        views: ['inspector', 'run'],
        occurs: (source) => someSegment(source, ({ ids }) => ids.length > 0),
      },
      {
        title: 'Minimap',
        meaning:
          'the whole trajectory, from the left: segments, background colours and forced tokens, trained tokens, marks',
        sample: { kind: 'minimap' },
        views: ['inspector'],
        occurs: () => true,
      },
    ],
  },
]
