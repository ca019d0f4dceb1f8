/** Messages between the server and the thread that compares. */
import type { PackedComparison } from '#lib/analysis/compare/sent-comparison.ts'
import type { TokenizerPlaces } from '#lib/tokenizer/hub/load.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { SideInput } from './compare.ts'
import type { RetokenizeRequest } from './retokenize.ts'

/** Data that the comparing thread receives when it starts. */
export interface CompareWorkerStart {
  readonly dataFolder: string
  readonly examplesFolder: string
  readonly tokenizers: TokenizerPlaces
}

/** A request to the comparing thread. */
export type CompareWorkRequest = SidesRequest | RetokenizeQuestion

/** A request to compare two sides. */
export interface SidesRequest {
  readonly kind: 'sides'
  readonly left: SideInput
  readonly right: SideInput
  /** Whether the answer includes the equal parts. */
  readonly alignedRuns: boolean
  /** Whether it includes them under their former name too. */
  readonly stretches: boolean
  /** `comparison` also returns both sides and the comparison itself, which rescoring needs. */
  readonly wants: 'answer' | 'comparison'
}

/** A request to encode the text or the messages of a trajectory again. */
interface RetokenizeQuestion {
  readonly kind: 'retokenize'
  readonly request: RetokenizeRequest
}

/** The reply of the comparing thread. */
export type CompareWorkerReply =
  /** `text` is the JSON of the answer, which the server's thread passes on unread. */
  | { readonly kind: 'answer'; readonly text: string }
  | {
      readonly kind: 'comparison'
      readonly text: string
      readonly sent: PackedComparison
      readonly originals: { readonly left: TrajectoryView; readonly right: TrajectoryView }
    }
