/** Loads what one side of a comparison needs: the tokenizer's files, and templates with a budget. */
import {
  type BuildResult,
  type LoadedSide,
  neededTokenizer,
  type SideTokenizer,
} from '#lib/analysis/compare/shown-side.ts'
import type { Reconstruction } from '#lib/analysis/compare/side.ts'
import type { LoadedTokenizer } from '#lib/tokenizer/files/tokenizer-files.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { HttpProblem } from '../http/problem.ts'
import type { Services } from '../services.ts'
import { boundedTemplate } from '../templates/bounded-template.ts'

/** Loads the tokenizer that the side needs. `template` is the text of a chosen template. Throws HttpProblem or TokenizerError. */
export async function loadSide(
  trajectory: TrajectoryView,
  as: Reconstruction,
  template: string | undefined,
  { tokenizers }: Pick<Services, 'tokenizers'>,
  signal: AbortSignal,
): Promise<LoadedSide> {
  const name = unwrapBuildResult(neededTokenizer(trajectory, as), 'NO_TOKENIZER')
  const tokenizer = name === undefined ? undefined : boundedTokenizer(await tokenizers.load(name, signal))
  return { as, trajectory, tokenizer, template }
}

/** Returns the value, or throws HttpProblem with the reason and the hint. */
export function unwrapBuildResult<T>(making: BuildResult<T>, code: 'NO_TOKENIZER' | 'NOT_RETOKENIZED'): T {
  if (making.ok) return making.value
  const { why, hint } = making
  throw new HttpProblem({ status: 422, code, detail: why, ...(hint !== undefined && { hint }) })
}

const boundedTokenizer = ({ tokenizer, compile, template }: LoadedTokenizer): SideTokenizer => ({
  tokenizer,
  compile: (text, use) => boundedTemplate(compile(text, use)),
  template: (hasTools) => {
    const own = template(hasTools)
    return own && boundedTemplate(own)
  },
})
