/** Completes trajectories with a tokenizer: those of files with only ids get texts, and those of files with only texts get ids. */

import { encodeMessages, type MessageEncoder } from '#lib/analysis/retokenize/encode-messages.ts'
import type { ToolParser } from '#lib/parsers/parser.ts'
import { DEFAULT_PARSER } from '#lib/parsers/registry.ts'
import { suggestParser } from '#lib/parsers/suggest.ts'
import { endOfTurnId } from '#lib/rollout/prompt/prompt.ts'
import { type TextSource, tokenizerMismatch, withTokenizer } from '#lib/rollout/record/with-tokenizer.ts'
import { type ChatTemplate, TemplateError } from '#lib/templates/chat-template.ts'
import type { LoadedTokenizer } from '#lib/tokenizer/files/tokenizer-files.ts'
import type { TokenizerLoader } from '#lib/tokenizer/hub/load.ts'
import type { Problem, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { lacksTexts, takesEncoding } from '#lib/trajectory/tokens/texts.ts'
import { HttpProblem } from '../http/problem.ts'
import { parserOrProblem } from '../templates/parse.ts'

/** What completes trajectories of either kind. */
export type CompletionSource = TextSource & MessageEncoder

/**
 * Returns the tokenizer with its template and the id that ends a turn. Without the name of a parser, ids are read with the default
 * parser, and texts with the one that the template suggests. Throws HttpProblem or TokenizerError if a name is unknown.
 */
export async function completionSource(
  { tokenizer: name, parser: parserName }: { readonly tokenizer: string; readonly parser?: string | undefined },
  tokenizers: Pick<TokenizerLoader, 'load'>,
  signal: AbortSignal,
): Promise<CompletionSource> {
  const parser = parserOrProblem(parserName ?? DEFAULT_PARSER)
  const { tokenizer, template } = await tokenizers.load(name, signal)
  const chat = compileTemplate(template)
  return {
    tokenizer,
    endOfTurnId: chat && endOfTurnId({ tokenizer, template: chat }, {}),
    parser,
    template,
    parserOf: (chatTemplate): ToolParser =>
      parserName === undefined ? parserOrProblem(suggestParser({ chatTemplate }).parser) : parser,
  }
}

/** Returns a record of an import with what the tokenizer gives it. A conversation that the template refuses keeps its messages, and the reason. */
export function completeImported(trajectory: Trajectory, source: CompletionSource): Trajectory {
  if (lacksTexts(trajectory)) return withTokenizerTexts(trajectory, source)
  if (!takesEncoding(trajectory)) return trajectory
  const encoded = encodeMessages(trajectory, source)
  if (encoded.ok) return encoded.value
  const refusal: Problem = { kind: 'template', message: `The messages have no tokens. ${encoded.why}` }
  return { ...trajectory, problems: [...(trajectory.problems ?? []), refusal] }
}

/** Returns the trajectory with the ids of its messages. Throws HttpProblem if the template refuses them. */
export function withMessageIds(trajectory: Trajectory, source: CompletionSource): Trajectory {
  const encoded = encodeMessages(trajectory, source)
  if (encoded.ok) return encoded.value
  throw new HttpProblem({
    status: 422,
    code: 'TEMPLATE_REFUSES',
    detail: encoded.why,
    hint: 'The messages stay as they are. Choose the tokenizer of another model, whose template accepts them.',
  })
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
  const mismatch = tokenizerMismatch(trajectory, texts.tokenizer)
  if (mismatch === undefined) return withTokenizer(trajectory, texts)
  throw new HttpProblem({
    status: 422,
    code: 'OTHER_TOKENIZER',
    detail: mismatch,
    hint: 'The file was created with another model: name its tokenizer.',
  })
}
