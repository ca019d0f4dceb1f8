import type { TrajectorySummary } from '#lib/api/library.ts'
import type { MissingContent } from '#lib/trajectory/format/missing-content.ts'
import { encodingOf } from '#lib/trajectory/tokens/texts.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

interface Missing {
  readonly name: string
  /** What is not possible without it. */
  readonly effect: string
}

const MISSING: Readonly<Record<MissingContent, Missing>> = {
  ids: { name: 'No token ids', effect: 'The file has texts. The ids that the model sampled are unknown.' },
  texts: { name: 'No token texts', effect: 'Choose a tokenizer to show the texts of the ids.' },
  messages: { name: 'No messages', effect: 'The messages that the prompts encode are unknown.' },
  logprobs: { name: 'No logprobs', effect: 'Surprisal and importance ratios are unknown.' },
  mask: { name: 'No loss mask', effect: 'The file does not say which tokens are trained.' },
  special_tokens: { name: 'No special tokens', effect: 'The file does not say which tokens are special.' },
  logprob_values: {
    name: 'Raw or processed logprobs?',
    effect: 'The file does not say whether its logprobs are before or after the temperature.',
  },
  temperature: { name: 'No temperature', effect: 'Logprobs cannot be converted between raw and processed.' },
}

const RE_ENCODED = 'Re-encoded'

const missingOf = ({ provenance }: TrajectoryView): readonly MissingContent[] =>
  provenance.kind === 'import' ? (provenance.missing ?? []) : []

/** Returns the names of what the file of a trajectory lacks as the beginning of a sentence. */
export const missingWords = (trajectory: TrajectoryView): string =>
  missingOf(trajectory)
    .map((content, index) => (index === 0 ? MISSING[content].name : lowerFirst(MISSING[content].name)))
    .join(', ')

const lowerFirst = (text: string): string => `${text.charAt(0).toLowerCase()}${text.slice(1)}`

/** Returns what the ids of a file without ids are worth, as sentences; undefined if the ids are of the file or of a run. */
export function encodingEffect(trajectory: TrajectoryView): string | undefined {
  const encoding = encodingOf(trajectory)
  if (!encoding) return undefined
  const { tokenizer, mask, caveats = [] } = encoding
  return [
    `No model read or sampled these ids: ${tokenizer} encoded the messages of the file.`,
    `Trained: ${mask}.`,
    ...caveats,
  ].join(' ')
}

/** Shows in a row of a list what the file of a trajectory lacks: the first by name, all of it in the tooltip. */
export function MissingMark({ missing, isEncodedAgain }: Pick<TrajectorySummary, 'missing' | 'isEncodedAgain'>) {
  const names = [...(isEncodedAgain ? [RE_ENCODED] : []), ...missing.map((content) => MISSING[content].name)]
  const [first, ...others] = names
  if (first === undefined) return null
  return (
    <span
      title={names.join(', ')}
      className="shrink-0 whitespace-nowrap rounded-full border border-line bg-raised px-1.5 text-[11px] text-dim"
    >
      <span aria-hidden>
        {first}
        {others.length > 0 && ` +${others.length}`}
      </span>
      <span className="sr-only">{names.join(', ')}</span>
    </span>
  )
}

/** Shows a badge for each kind of content that the file of a trajectory lacks, and for ids that were encoded again. */
export function MissingBadges({ trajectory }: { readonly trajectory: TrajectoryView }) {
  const effect = encodingEffect(trajectory)
  const badges = [
    ...(effect === undefined ? [] : [{ name: RE_ENCODED, effect }]),
    ...missingOf(trajectory).map((content) => MISSING[content]),
  ]
  if (badges.length === 0) return null
  return (
    <ul aria-label="Missing in the file" className="flex flex-wrap gap-1">
      {badges.map((badge) => (
        <li
          key={badge.name}
          title={badge.effect}
          className="rounded-full border border-line bg-raised px-2 py-px text-[11px]"
        >
          {badge.name}
        </li>
      ))}
    </ul>
  )
}
