/** Which parser a run should have where nobody names one: by the server's own setting, else by the chat template. */
import { foreignFormIn } from './foreign-forms.ts'
import { DEFAULT_PARSER, parserOfServer, TEMPLATE_MARKS, type TemplateMarks } from './registry.ts'

export interface Known {
  /** The text of the template, Jinja. Undefined or empty: it is not known. */
  readonly chatTemplate?: string | undefined
  /** SGLang's name of the parser that the server runs with. */
  readonly serverParser?: string | undefined
  /** Texts of the tokenizer's added tokens. */
  readonly addedTokens?: readonly string[] | undefined
}

export interface Suggestion {
  readonly parser: string
  /** A clause, to be read behind "because". */
  readonly because: string
  /** What tells it; default: nothing does. */
  readonly by: 'server' | 'template' | 'tokens' | 'default'
}

export function suggestParser({ chatTemplate = '', serverParser, addedTokens = [] }: Known): Suggestion {
  const own = parserOfServer(serverParser)
  const foreign = foreignFormIn(chatTemplate)
  const written = foreign ? undefined : formIn((mark) => chatTemplate.includes(mark))
  if (own !== undefined) {
    const isOther = written !== undefined && written.parser !== own
    const caveat = isOther ? `, though the chat template has ${written.marks[0]}, as ${written.parser} reads it` : ''
    return { parser: own, because: `the server runs with ${serverParser}${caveat}`, by: 'server' }
  }
  const unknown = serverParser === undefined ? '' : `the server’s ${serverParser} is not known here, and `
  if (written)
    return { parser: written.parser, because: `${unknown}the chat template has ${written.marks[0]}`, by: 'template' }
  if (foreign) {
    const because = `${unknown}no parser here reads ${foreign.mark}, which the chat template has: the form of SGLang’s ${foreign.sglangParser}`
    return { parser: DEFAULT_PARSER, because, by: 'default' }
  }
  const tokens = new Set(addedTokens)
  const told = formIn((mark) => tokens.has(mark))
  if (told)
    return { parser: told.parser, because: `${unknown}the tokenizer has ${told.marks[0]} as a token`, by: 'tokens' }
  const because =
    unknown === '' ? 'neither the server nor the chat template tells one' : `${unknown}the chat template tells none`
  return { parser: DEFAULT_PARSER, because, by: 'default' }
}

const formIn = (has: (mark: string) => boolean): TemplateMarks | undefined =>
  TEMPLATE_MARKS.find(({ marks }) => marks.every(has))
