/** Suggests a parser for a run without one: by the server's setting, otherwise by the chat template. */
import { foreignFormIn } from './foreign-forms.ts'
import { DEFAULT_PARSER, parserOfServer, TEMPLATE_MARKS, type TemplateMarks } from './registry.ts'

/** Information that identifies a parser. */
export interface ParserEvidence {
  /** Jinja text of the template; undefined or empty if unknown. */
  readonly chatTemplate?: string | undefined
  /** SGLang's name of the server's parser. */
  readonly serverParser?: string | undefined
  /** Texts of the tokenizer's added tokens. */
  readonly addedTokens?: readonly string[] | undefined
}

/** A suggested parser with its reason. */
export interface Suggestion {
  readonly parser: string
  /** A clause to be read after "because". */
  readonly because: string
  /** The source of the suggestion; 'default' if nothing identifies a parser. */
  readonly by: 'server' | 'template' | 'tokens' | 'default'
}

/** Suggests a parser: by the server, the chat template, or the added tokens, in this order; otherwise the default. */
export function suggestParser({ chatTemplate = '', serverParser, addedTokens = [] }: ParserEvidence): Suggestion {
  const own = parserOfServer(serverParser)
  const foreign = foreignFormIn(chatTemplate)
  const written = foreign ? undefined : formIn((mark) => chatTemplate.includes(mark))
  if (own !== undefined) {
    const isOther = written !== undefined && written.parser !== own
    const caveat = isOther
      ? `, though the chat template contains ${written.marks[0]}, as ${written.parser} reads it`
      : ''
    return { parser: own, because: `the server runs with ${serverParser}${caveat}`, by: 'server' }
  }
  const unknown = serverParser === undefined ? '' : `the server’s parser ${serverParser} is unknown here, and `
  if (written)
    return {
      parser: written.parser,
      because: `${unknown}the chat template contains ${written.marks[0]}`,
      by: 'template',
    }
  if (foreign) {
    const because = `${unknown}no parser here reads ${foreign.mark}, which the chat template contains: the format of SGLang’s ${foreign.sglangParser}`
    return { parser: DEFAULT_PARSER, because, by: 'default' }
  }
  const tokens = new Set(addedTokens)
  const formOfTokens = formIn((mark) => tokens.has(mark))
  if (formOfTokens)
    return {
      parser: formOfTokens.parser,
      because: `${unknown}the tokenizer has ${formOfTokens.marks[0]} as a token`,
      by: 'tokens',
    }
  const because =
    unknown === ''
      ? 'neither the server nor the chat template identifies a parser'
      : `${unknown}the chat template identifies no parser`
  return { parser: DEFAULT_PARSER, because, by: 'default' }
}

const formIn = (has: (mark: string) => boolean): TemplateMarks | undefined =>
  TEMPLATE_MARKS.find(({ marks }) => marks.every(has))
