/** Adds texts to trajectories of a file that has only ids, with a tokenizer. */

import type { ToolParser } from '#lib/parsers/parser.ts'
import { endOfTurnId } from '#lib/rollout/prompt/prompt.ts'
import { foreignId, type TextSource, withTokenizer } from '#lib/rollout/record/with-tokenizer.ts'
import { type ChatTemplate, TemplateError } from '#lib/templates/chat-template.ts'
import type { LoadedTokenizer } from '#lib/tokenizer/files/tokenizer-files.ts'
import type { TokenizerLoader } from '#lib/tokenizer/hub/load.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { HttpProblem } from '../http/problem.ts'

/** Returns the tokenizer with the id that ends a turn. Throws TokenizerError if there is no such tokenizer. */
export async function textSource(
  name: string,
  parser: ToolParser,
  tokenizers: Pick<TokenizerLoader, 'load'>,
  signal: AbortSignal,
): Promise<TextSource> {
  const { tokenizer, template } = await tokenizers.load(name, signal)
  const chat = compileTemplate(template)
  return { tokenizer, endOfTurnId: chat && endOfTurnId({ tokenizer, template: chat }, {}), parser }
}

/** Returns the template, which only determines how turns end; undefined if it does not compile. */
function compileTemplate(template: LoadedTokenizer['template']): ChatTemplate | undefined {
  try {
    return template(false)
  } catch (error) {
    if (error instanceof TemplateError) return undefined
    throw error
  }
}

/** Returns the trajectory with its texts. Throws HttpProblem if the tokenizer belongs to another model. */
export function withTokenizerTexts(trajectory: Trajectory, texts: TextSource): Trajectory {
  const foreign = foreignId(trajectory, texts.tokenizer)
  if (!foreign) return withTokenizer(trajectory, texts)
  throw new HttpProblem({
    status: 422,
    code: 'OTHER_TOKENIZER',
    detail: `token ${foreign.tokenIndex} has the id ${foreign.id}, and ${texts.tokenizer.name} has only ${texts.tokenizer.vocabularySize} ids`,
    hint: 'The file was created with another model: name its tokenizer.',
  })
}
