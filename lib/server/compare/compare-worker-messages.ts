/** What goes between the server and the thread that compares. */
import type { SentComparing } from '#lib/analysis/compare/sent-comparison.ts'
import type { TokenizerPlaces } from '#lib/tokenizer/hub/load.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { ProblemDetails } from '../http/problem.ts'
import type { SideInput } from './compare.ts'
import type { RetokenizeRequest } from './retokenize.ts'

export interface CompareWorkerStart {
  readonly dataFolder: string
  readonly examplesFolder: string
  readonly tokenizers: TokenizerPlaces
}

export type CompareQuestion = SidesQuestion | RetokenizeQuestion

export interface SidesQuestion {
  readonly kind: 'sides'
  readonly left: SideInput
  readonly right: SideInput
  readonly stretches: boolean
  /** comparison: the sides and what was found come along, for what is to be done with them. */
  readonly wants: 'answer' | 'comparison'
}

/** Answered with its text. */
interface RetokenizeQuestion {
  readonly kind: 'retokenize'
  readonly request: RetokenizeRequest
}

export type CompareAnswered =
  | { readonly kind: 'refused'; readonly problem: ProblemDetails }
  /** `text`: the JSON of the answer; the server's thread only passes it on. */
  | { readonly kind: 'answer'; readonly text: string }
  | {
      readonly kind: 'comparison'
      readonly text: string
      readonly sent: SentComparing
      readonly given: { readonly left: TrajectoryView; readonly right: TrajectoryView }
    }
