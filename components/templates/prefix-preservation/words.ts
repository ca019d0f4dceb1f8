/** Names of boundaries, forms of thinking and verdicts on the page. */
import type {
  Boundary,
  Cell,
  OptionChange,
  TemplateVerdict,
  Thinking,
} from '#lib/templates/prefix-preservation/report.ts'

/** Name and explanation of each boundary: what follows the reply in the next prompt. */
export const BOUNDARIES: Readonly<Record<Boundary, { readonly name: string; readonly title: string }>> = {
  end: { name: 'no tool', title: 'No tools at all, and no new message: the conversation ends with the reply' },
  user: { name: '→ user', title: 'A question follows an answer that tools helped to find' },
  system: { name: '→ system', title: 'A system message follows' },
  tool: { name: '→ tool', title: 'The result of the reply’s call follows' },
  parallel: { name: '→ tool ×2', title: 'The results of two parallel calls follow' },
  order: { name: 'swapped', title: 'The results of two parallel calls follow, the second one first' },
  retry: { name: 'retry', title: 'A call failed, the reply calls again, and its result follows' },
  chain: { name: 'chain', title: 'A second question is worked on with tools: several users, several calls' },
}

/** Name and explanation of each form of thinking. */
export const THINKING: Readonly<Record<Thinking, { readonly name: string; readonly title: string }>> = {
  off: { name: 'thinking off', title: 'No reply thinks' },
  on: { name: 'thinking on', title: 'Every reply thinks, and the messages keep its thinking' },
  stripped: { name: 'on, earlier stripped', title: 'The reply thinks; the thinking of earlier replies was removed' },
}

/** Name and explanation of whether a reply has text besides its calls. */
export const CONTENTS = {
  none: { name: '', title: '' },
  without: { name: 'bare', title: 'calls only' },
  with: { name: '+ text', title: 'text beside the calls' },
} as const

/** Sign, text and CSS classes of each verdict. */
export const VERDICTS: Readonly<
  Record<TemplateVerdict['kind'] | 'merging', { readonly sign: string; readonly text: string; readonly look: string }>
> = {
  stable: { sign: '✓', text: 'stable', look: 'bg-good-soft text-good' },
  unstable: { sign: '✗', text: 'unstable', look: 'bg-bad-soft text-bad font-semibold' },
  merging: { sign: '≈', text: 'only tokens merge', look: 'bg-warn-soft text-warn font-semibold' },
  notApplicable: { sign: '–', text: 'not applicable', look: 'text-faint' },
  error: { sign: '!', text: 'error', look: 'bg-warn-soft text-warn font-semibold' },
}

/** Returns changed template options as text; null means that the option is left out. */
export const optionsText = (options: OptionChange): string =>
  Object.entries(options)
    .map(([name, value]) => (value === null ? `without ${name}` : `${name} = ${value}`))
    .join(', ') || 'options as given'

/** Returns the sign, text and look of a verdict. A finding in which only tokens merge has its own verdict. */
export const verdictWords = (verdict: TemplateVerdict): (typeof VERDICTS)[TemplateVerdict['kind']] =>
  VERDICTS[verdict.kind === 'unstable' && !verdict.finding.textDiffers ? 'merging' : verdict.kind]

/** Returns what a cell checks, as text. */
export function cellName({ place }: Cell): string {
  const { name } = BOUNDARIES[place.boundary]
  if (place.kind === 'trajectory') return `${place.form === 'text' ? 'as text' : 'as parsed'} · ${name}`
  const parts = [
    THINKING[place.thinking].name,
    name,
    CONTENTS[place.content].title,
    Object.keys(place.options).length > 0 ? optionsText(place.options) : '',
  ]
  return parts.filter((part) => part !== '').join(' · ')
}

/** Returns the name of a cell with its verdict and reason, for screen readers. */
export function cellLabel(cell: Cell): string {
  const { verdict } = cell
  const why =
    verdict.kind === 'unstable'
      ? `: ${verdict.finding.cause.text}`
      : verdict.kind === 'notApplicable'
        ? `: ${verdict.why}`
        : verdict.kind === 'error'
          ? `: ${verdict.failure.message}`
          : ''
  return `${cellName(cell)}: ${verdictWords(verdict).text}${why}`
}
