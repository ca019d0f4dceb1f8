/** Ranks the parsers by how well they fit a template, a file of completions, or both. */
import { parsers } from '#lib/parsers/registry.ts'
import type { CompletionFit, MissedCalls } from './completion-fit.ts'
import type { ParserScore, TemplateFit } from './template-fit.ts'

/** All parsers in order, with reasons. */
export interface FitReport {
  /** The result in one or two sentences. */
  readonly verdict: string
  /** The best parser first. */
  readonly ranking: readonly RankedParser[]
  /** undefined if no template was to be checked. */
  readonly template: Omit<TemplateFit, 'scores'> | undefined
  /** undefined if there are no completions. */
  readonly completions: Pick<CompletionFit, 'rows' | 'withCalls'> | undefined
}

/** A parser with its scores. */
export interface RankedParser {
  readonly parser: string
  /** From 0 to 1; the mean of the two scores. */
  readonly score: number
  readonly template: Reasoned | undefined
  readonly completions: (Reasoned & { readonly missedIn: number; readonly missed: readonly MissedCalls[] }) | undefined
}

interface Reasoned {
  readonly score: number
  readonly reasons: readonly string[]
}

/** Returns the report of a template's fit, a completions' fit, or both. */
export function fitReport(template: TemplateFit | undefined, completions: CompletionFit | undefined): FitReport {
  // Completions without calls do not distinguish parsers.
  const counted = template && completions?.withCalls === 0 ? undefined : completions
  const ranking = parsers
    .map(({ name }, index) => {
      const written = template?.scores[index]
      const read = completions?.scores[index]
      const scores = [written, counted?.scores[index]].flatMap((one) => (one ? [one.score] : []))
      return {
        parser: name,
        score: scores.reduce((sum, score) => sum + score, 0) / Math.max(1, scores.length),
        reach: read?.reach ?? 0,
        template: written && { score: written.score, reasons: written.reasons },
        completions: read && {
          score: read.score,
          reasons: read.reasons,
          missedIn: read.missedIn,
          missed: read.missed,
        },
      }
    })
    .toSorted((a, b) => b.score - a.score || b.reach - a.reach)
    .map(({ reach: _, ...ranked }): RankedParser => ranked)
  return {
    verdict: [
      verdictOf(ranking, template, counted),
      ...(completions && !counted ? [`No parser finds a call in ${themText(completions)}.`] : []),
    ].join(' '),
    ranking,
    template: template && withoutScores(template),
    completions: completions && { rows: completions.rows, withCalls: completions.withCalls },
  }
}

const withoutScores = ({ scores: _, ...rest }: TemplateFit): Omit<TemplateFit, 'scores'> => rest

const themText = ({ rows }: CompletionFit): string => (rows.length === 1 ? 'the completion' : 'the completions')

/** Score of a parser that reads all but a few calls. */
const GOOD = 0.9
/** Scores that differ by less than this do not distinguish parsers. */
const CLOSE = 0.05

function verdictOf(
  ranking: readonly RankedParser[],
  template: TemplateFit | undefined,
  completions: CompletionFit | undefined,
): string {
  const [best, second] = ranking as [RankedParser, RankedParser]
  if (best.score === 0) return noneFits(template, completions)
  const rivals = ranking.filter(({ score }) => best.score - score < CLOSE).map(({ parser }) => parser)
  const [written, read] = [topOf(template?.scores), topOf(completions?.scores)]
  if (written && read && written.parser !== read.parser)
    return `The template suggests ${written.parser}, but ${read.parser} reads ${themText(completions as CompletionFit)} best: the model writes differently than the template shows.`
  if (rivals.length > 1) return `${rivals.join(' and ')} fit equally well: this text does not distinguish them.`
  const isMeasured = template?.evidence === 'written' || completions !== undefined
  const fits = !isMeasured || best.score >= GOOD
  const sources = [best.template, best.completions].filter((source) => source !== undefined && source.score > 0)
  // The reason is in favor of the parser if it fits, otherwise its worst one.
  const source = fits ? sources[0] : sources.toSorted((a, b) => (a?.score ?? 0) - (b?.score ?? 0))[0]
  const why = source?.reasons[0] ?? ''
  return `${best.parser} ${fits ? 'fits' : 'fits best, but not completely'}: ${how(template, completions)}${why}.${second.score > 0.4 ? ` Next is ${second.parser}.` : ''}`
}

/** Returns the parser that one source favors; undefined if it favors none. */
function topOf(scores: readonly ParserScore[] | undefined): ParserScore | undefined {
  const best = scores?.reduce((a, b) => (b.score > a.score ? b : a))
  return best && best.score > 0 ? best : undefined
}

function how(template: TemplateFit | undefined, completions: CompletionFit | undefined): string {
  if (!template || template.evidence === 'none') return completions ? 'it ' : ''
  switch (template.evidence) {
    case 'written':
      return 'it '
    case 'instructions':
      return 'the template itself writes no calls; it '
    case 'text':
    case 'tokens':
      return ''
  }
}

function noneFits(template: TemplateFit | undefined, completions: CompletionFit | undefined): string {
  if (template?.foreign)
    return `No parser of Rollscope reads ${template.foreign.mark}, the format of SGLang’s ${template.foreign.sglangParser}.`
  if (template?.error && template.error.where !== 'template')
    return `The ${template.error.where} cannot be read: ${template.error.message}`
  if (template?.error) return `The template raises an error for messages with tool calls: ${template.error.message}`
  if (completions && completions.withCalls === 0) return `No parser finds a call in ${themText(completions)}.`
  if (completions) return `No parser reads any of the calls in ${themText(completions)}.`
  if (template?.evidence === 'written') return 'No parser of Rollscope reads the calls that the template writes.'
  return 'The template writes no tool calls, and shows the model no example.'
}
